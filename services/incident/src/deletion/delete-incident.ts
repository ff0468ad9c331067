/**
 * `deletion` deletes incidents for good (contract: Deleting an incident). One transaction locks the incident and all
 * that are related to it, in the order of their IDs, takes the relations from the others, which get a revision each,
 * and deletes the row, with which the database deletes all that belongs to it. Stored outcomes that show the incident
 * become refusals, so that a repeated create does not make it again. `incident.deleted`, which has only its ID and
 * reference, and the entry of the audit log commit with it; by the event the webhook service empties the feed and
 * deletes deliveries. The counter of numbers stays, so no number comes again. A crash leaves the incident as it was, or
 * gone.
 */
import { invalidRequest } from '@tocsin/http';
import { auditEvent, changeBy, insertEvents } from '@tocsin/messaging';
import { query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Caller } from '@tocsin/versioned-resources';
import { type Incident, humanId } from '../incidents/domain/incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { authorOf, changeIncident } from '../incidents/save-incident.ts';
import { incidentStore, lockIncidents, requireIncident } from '../incidents/store/incident-store.ts';
import { countReferences } from '../incidents/store/service-references.ts';
import { changeOf, inverseOf, type RelationType } from '../relations/domain/relation.ts';
import { relationStore } from '../relations/store/relation-store.ts';
import { deletionOf } from './store/deletion-store.ts';

interface DeleteCommand extends Caller {
  id: number;
  /** The reference of the incident, from a person. */
  confirmation?: string;
  /** Deletes it only if it was archived before this time. */
  archivedBefore?: Instant;
  reason: string;
}

/** More than an incident can have. */
const MAX_RELATIONS = 10_000;

/**
 * Deletes an incident for good, archived or not (contract: Deleting an incident).
 * @throws DomainError `not_found`, `invalid_request` for another reference
 */
export async function deleteIncident(dependencies: CommandDependencies, command: DeleteCommand): Promise<void> {
  const { principal, id, confirmation, archivedBefore, reason } = command;
  const { workspace } = principal;
  await runCommand(dependencies, {
    workspace,
    reads: async (trx) => {
      await incidentStore(trx, workspace.id).get(id);
      const relationsOf = async (incidentId: number) =>
        relationStore(trx, { workspaceId: workspace.id, id: incidentId }).list(0, MAX_RELATIONS);
      const related = (await relationsOf(id)).map((relation) => relation.related.id);
      const locked = await query(trx, lockIncidents(workspace.id, [id, ...related]));
      const incident = requireIncident(locked.filter((each) => each.id === id));
      const sides: { before: Incident; types: RelationType[]; isDuplicate: boolean }[] = [];
      // Nobody relates the incident while it is locked.
      const relations = Map.groupBy(await relationsOf(id), (relation) => relation.related.id);
      for (const before of locked.filter((each) => relations.has(each.id))) {
        const others = (await relationsOf(before.id)).filter((relation) => relation.related.id !== id);
        sides.push({
          before,
          types: (relations.get(before.id) ?? []).map(({ type }) => inverseOf(type)),
          isDuplicate: others.some(({ type }) => type === 'duplicate_of'),
        });
      }
      return { incident, sides };
    },
    decides: ({ incident, sides }, { now }) => {
      const reference = humanId(incident.number);
      if (confirmation !== undefined && confirmation !== reference)
        throw invalidRequest('confirmation', `Must be ${reference}`);
      if (archivedBefore !== undefined && (incident.archivedAt ?? now) >= archivedBefore)
        return { stores: [], answer: () => undefined };
      const author = authorOf(command);
      const changes = sides.flatMap(({ before, types, isDuplicate }) => {
        const others = types.map((type) => changeOf(type, incident, 'removed'));
        return changeIncident({ author, before, change: { isDuplicate }, now, others }).statements;
      });
      const change = changeBy(command);
      const entry = {
        ...{ action: 'incident.deleted', target: { type: 'incident', id: String(id) } },
        ...{ before: { reference }, after: { reason }, now },
      };
      const { workspace: origin, requestId } = change;
      const event = { type: 'incident.deleted', occurredAt: now, workspace: origin, requestId } as const;
      return {
        stores: [
          ...changes,
          ...countReferences(incident, { ...incident, service: '' }),
          ...deletionOf(incident, reference),
          insertEvents([{ ...event, data: { incident: { id, reference } } }, auditEvent(change, entry)]),
        ],
        answer: () => undefined,
      };
    },
  });
}
