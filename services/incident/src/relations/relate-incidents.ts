/**
 * `relations` relates incidents of a workspace: duplicates, causes, and others (contract: Relations). A relation is
 * stored as two rows with one ID, one for each side (ADR 100). A command locks both incidents in the order of their
 * IDs, so that opposite requests wait for each other. Before that, additions of duplicates take turns in the workspace,
 * because two that lock different incidents could close a circle together; then the chain of duplicates is followed to
 * see that there is none. Both incidents get a revision, a changelog entry and an event, which commit with the rows: a
 * crash leaves both sides or none. The same relation again changes nothing. Imports add relations by the same rules
 * (`../transfer/relate-items.ts`).
 */
import type { KeyedOutcome } from '@tocsin/http';
import { query, type Statement } from '@tocsin/postgres';
import type { Caller } from '@tocsin/versioned-resources';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import type { Change } from '../incidents/domain/changes.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { authorOf, changeIncident, creatorOf, type IncidentChange } from '../incidents/save-incident.ts';
import { incidentStore, lockIncidents, requireIncident, updateOfIncident } from '../incidents/store/incident-store.ts';
import {
  changeOf,
  checkNoCircle,
  checkRelated,
  checkRoom,
  type GivenType,
  inverseOf,
  mayName,
  type Relation,
  type RelationType,
} from './domain/relation.ts';
import { deleteRelation, insertRelation, lockDuplicates, nextRelation, relationStore } from './store/relation-store.ts';

interface RelateCommand extends Caller {
  incidentId: number;
  type: GivenType;
  relatedId: number;
  outcome: KeyedOutcome<Related> | undefined;
}

export interface Related {
  relation: Relation;
  /** False if the incidents were related so already. */
  isNew: boolean;
}

/**
 * Relates an incident to another one; both get a revision (contract: Relations). If they are related so already, nothing
 * changes.
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_request`
 */
export async function relateIncidents(dependencies: CommandDependencies, command: RelateCommand): Promise<Related> {
  const { principal, incidentId, type, relatedId, outcome } = command;
  const { workspace } = principal;
  const pair = { incidentId, type, relatedId };
  return runCommand(dependencies, {
    workspace,
    outcome,
    reads: async (trx) => {
      if (type === 'duplicate_of') await query(trx, lockDuplicates(workspace.id));
      const locked = await query(trx, lockIncidents(workspace.id, [incidentId, relatedId]));
      const incident = requireIncident(locked.filter(({ id }) => id === incidentId));
      const relations = relationStore(trx, { workspaceId: workspace.id, id: incidentId });
      const existing = await relations.find(type, relatedId);
      const walked = type === 'duplicate_of' && existing === undefined ? await relations.walk(relatedId) : undefined;
      const [next] = existing === undefined ? await query(trx, nextRelation(workspace.id, pair)) : [];
      return { incident, other: locked.find(({ id }) => id === relatedId), existing, walked, next };
    },
    decides: ({ incident, other, existing, walked, next }, { now }) => {
      checkWritable(incident);
      const related = checkRelated(incident, other, type);
      if (existing !== undefined) return { stores: [], answer: () => ({ relation: existing, isNew: false }) };
      if (walked !== undefined) checkNoCircle(walked);
      const { id, ...counts } = next as { id: number; ofType: number; ofInverse: number };
      checkRoom(type, counts);
      const relation = { id, type, createdAt: now, ...creatorOf(command), related };
      const author = authorOf(command);
      const change = type === 'duplicate_of' ? { isDuplicate: true } : {};
      const statements = [
        ...changeSide({ author, before: incident, change, now }, changeOf(type, related, 'added'), related),
        ...changeSide(
          { author, before: related, change: {}, now },
          changeOf(inverseOf(type), incident, 'added'),
          incident,
        ),
      ];
      return {
        stores: [insertRelation(workspace.id, pair, relation), ...statements],
        answer: () => ({ relation, isNew: true }),
      };
    },
  });
}

interface UnrelateCommand extends Caller {
  incidentId: number;
  id: number;
}

/**
 * Deletes a relation of two active incidents; both get a revision (contract: Relations).
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function unrelateIncidents(dependencies: CommandDependencies, command: UnrelateCommand): Promise<void> {
  const { principal, incidentId, id } = command;
  const { workspace } = principal;
  await runCommand(dependencies, {
    workspace,
    reads: async (trx) => {
      // Whether an incident of another workspace has the relation is not to be seen.
      await incidentStore(trx, workspace.id).get(incidentId);
      const relations = relationStore(trx, { workspaceId: workspace.id, id: incidentId });
      const { related: other } = await relations.get(id);
      const locked = await query(trx, lockIncidents(workspace.id, [incidentId, other.id]));
      const incident = requireIncident(locked.filter((each) => each.id === incidentId));
      const related = requireIncident(locked.filter((each) => each.id === other.id));
      // Throws if another request has deleted it in the meantime.
      const relation = await relations.get(id);
      const remains = async (of: Incident, type: RelationType) =>
        type === 'duplicate_of' && (await relationStore(trx, of).hasAnother(type, id));
      return {
        relation,
        sides: [
          { before: incident, type: relation.type, to: related, isDuplicate: await remains(incident, relation.type) },
          {
            ...{ before: related, type: inverseOf(relation.type), to: incident },
            isDuplicate: await remains(related, inverseOf(relation.type)),
          },
        ],
      };
    },
    decides: ({ relation, sides }, { now }) => {
      sides.forEach(({ before }) => checkWritable(before));
      const author = authorOf(command);
      const statements = sides.flatMap(({ before, type, to, isDuplicate }) => {
        const change = type === 'duplicate_of' ? { isDuplicate } : {};
        return changeSide({ author, before, change, now }, changeOf(type, to, 'removed'), to);
      });
      return { stores: [deleteRelation(workspace.id, incidentId, relation), ...statements], answer: () => undefined };
    },
  });
}

/** What is stored of one side: all may see an incident that is not restricted, so its record does not name one that is. */
function changeSide(side: Omit<IncidentChange, 'others'>, recorded: Change, other: Incident): Statement[] {
  const { before, change } = side;
  if (mayName(before, other)) return changeIncident({ ...side, others: [recorded] }).statements;
  return Object.keys(change).length === 0 ? [] : [updateOfIncident(before.workspaceId, before.id, change)];
}
