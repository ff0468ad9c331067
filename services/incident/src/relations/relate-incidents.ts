import type { IdempotencyKey } from '@tocsin/http';
import { pipeline, query } from '@tocsin/postgres';
import type { Caller } from '@tocsin/resources';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { authorOf, creatorOf, saveIncident } from '../incidents/save-incident.ts';
import { incidentStore, lockIncidents, requireIncident } from '../incidents/store/incident-store.ts';
import {
  changeOf,
  checkNoCircle,
  checkRelated,
  checkRoom,
  type GivenType,
  inverseOf,
  type Relation,
} from './domain/relation.ts';
import { insertRelation, lockDuplicates, nextRelation, relationStore } from './store/relation-store.ts';

interface RelateCommand extends Caller {
  incidentId: number;
  type: GivenType;
  relatedId: number;
  key: IdempotencyKey | undefined;
  render: (relation: Relation) => string;
}

/**
 * Relates an incident to another one; both get a revision (contract: Relations). If they are related so already, nothing
 * changes. The incidents are locked in the order of their IDs, so that opposite requests wait for each other.
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_request`
 */
export async function relateIncidents(
  dependencies: CommandDependencies,
  command: RelateCommand,
): Promise<{ status: 200 | 201; text: string }> {
  const { principal, incidentId, type, relatedId, key, render } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    transaction: async (trx) => {
      await key?.lock(trx);
      if (type === 'duplicate_of') await query(trx, lockDuplicates(workspace.id));
      const locked = await query(trx, lockIncidents(workspace.id, [incidentId, relatedId]));
      const incident = requireIncident(locked.filter(({ id }) => id === incidentId));
      checkWritable(incident);
      const related = checkRelated(
        incident,
        locked.find(({ id }) => id === relatedId),
      );
      const outcomeOf = (status: 200 | 201, text: string) =>
        key === undefined ? [] : [key.outcome({ status, text, revision: undefined })];
      const relations = relationStore(trx, incidentId);
      const existing = await relations.find(type, relatedId);
      if (existing !== undefined) {
        const text = render(existing);
        await pipeline(trx, outcomeOf(200, text));
        return { status: 200 as const, text };
      }
      if (type === 'duplicate_of') checkNoCircle(await relations.walk(relatedId));
      const pair = { incidentId, type, relatedId };
      const [next] = await query(trx, nextRelation(pair));
      const { id, ...counts } = next as { id: number; own: number; inverse: number };
      checkRoom(type, counts);
      const now = dependencies.clock.now();
      const relation = { id, type, createdAt: now, ...creatorOf(command), related };
      const text = render(relation);
      const save = { trx, author: authorOf(command), now };
      await saveIncident({
        ...save,
        before: incident,
        change: type === 'duplicate_of' ? { isDuplicate: true } : {},
        others: [changeOf(type, related, 'added')],
        also: [insertRelation(pair, relation)],
      });
      const others = [changeOf(inverseOf(type), incident, 'added')];
      await saveIncident({ ...save, before: related, change: {}, others, also: outcomeOf(201, text), commit: true });
      return { status: 201 as const, text };
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
    transaction: async (trx) => {
      // Whether an incident of another workspace has the relation is not to be seen.
      await incidentStore(trx, workspace.id).get(incidentId);
      const relations = relationStore(trx, incidentId);
      const { related: other } = await relations.get(id);
      const locked = await query(trx, lockIncidents(workspace.id, [incidentId, other.id]));
      const incident = requireIncident(locked.filter((each) => each.id === incidentId));
      const related = requireIncident(locked.filter((each) => each.id === other.id));
      // Throws if another request has deleted it in the meantime.
      const relation = await relations.get(id);
      [incident, related].forEach(checkWritable);
      await relations.delete(relation);
      const save = { trx, author: authorOf(command), now: dependencies.clock.now() };
      for (const [before, type, to] of [
        [incident, relation.type, related],
        [related, inverseOf(relation.type), incident],
      ] as const) {
        const change: Partial<Incident> =
          type === 'duplicate_of' ? { isDuplicate: await relationStore(trx, before.id).hasType(type) } : {};
        await saveIncident({ ...save, before, change, others: [changeOf(type, to, 'removed')] });
      }
    },
  });
}
