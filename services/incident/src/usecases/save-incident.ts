import { outbox } from '@tocsin/messaging';
import type { Instant, Knex } from '@tocsin/runtime';
import { changesBetween } from '../domain/changes.ts';
import type { Incident } from '../domain/incident.ts';
import { shortenChanges } from '../domain/large-changes.ts';
import { incidentSnapshot } from '../domain/snapshot.ts';
import { changelogStore } from '../store/changelog-store.ts';
import { incidentStore } from '../store/incident-store.ts';
import type { Author } from './context.ts';

export interface IncidentChange {
  trx: Knex.Transaction;
  author: Author;
  /** The incident as this transaction read and locked it. */
  before: Incident;
  change: Partial<Incident>;
  now: Instant;
  /** The event to publish; default: `incident.updated`. */
  event?: 'incident.updated' | 'incident.archived' | 'incident.restored';
  /** Whether the timeline changed: this raises the revision even if no property differs, but adds no changelog entry. */
  timelineChanged?: boolean;
}

/**
 * Saves a change of a locked incident with its changelog entry and its event, or nothing if no property differs. The
 * revision rises by one, no matter how many properties change.
 */
export async function saveIncident(options: IncidentChange): Promise<Incident> {
  const { trx, author, before, change, now, event = 'incident.updated', timelineChanged = false } = options;
  const after = { ...before, ...change, revision: before.revision + 1 };
  const { changes } = shortenChanges(changesBetween(before, after));
  if (changes.length === 0 && !timelineChanged) return before;

  const { workspaceId, id, revision } = after;
  await incidentStore(trx, workspaceId).update(id, { ...change, revision });
  if (changes.length > 0) {
    await changelogStore(trx).add({ incidentId: id, revision, actor: author.actor, changedAt: now, changes });
  }
  const envelope = { occurredAt: now, workspace: author.workspace, requestId: author.requestId };
  const incident = incidentSnapshot(after);
  await (event === 'incident.updated'
    ? outbox(trx).add({ ...envelope, type: event, data: { incident, changes } })
    : outbox(trx).add({ ...envelope, type: event, data: { incident } }));
  return after;
}
