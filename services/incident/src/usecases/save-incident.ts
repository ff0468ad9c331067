import { outbox } from '@tocsin/messaging';
import type { Instant, Knex } from '@tocsin/runtime';
import { changesBetween } from '../domain/changes.ts';
import type { Incident } from '../domain/incident.ts';
import { incidentSnapshot } from '../domain/snapshot.ts';
import { changelogStore } from '../store/changelog-store.ts';
import { incidentStore } from '../store/incident-store.ts';
import type { Author } from './context.ts';

export interface IncidentChange {
  trx: Knex.Transaction;
  author: Author;
  /** As this transaction read and locked it. */
  before: Incident;
  change: Partial<Incident>;
  now: Instant;
  /** What the world is told; that it was updated, unless given. */
  event?: 'incident.updated' | 'incident.archived' | 'incident.restored';
  /** Its timeline changed too, which raises the revision even where no property differs, and is no changelog entry. */
  timelineChanged?: boolean;
}

/**
 * Saves a change of a locked incident: its new revision, the changelog's entry and the event, or nothing at all where the
 * change changes nothing. However much changes at once, the revision rises once.
 */
export async function saveIncident(options: IncidentChange): Promise<Incident> {
  const { trx, author, before, change, now, event = 'incident.updated', timelineChanged = false } = options;
  const after = { ...before, ...change, revision: before.revision + 1 };
  const changes = changesBetween(before, after);
  if (changes.length === 0 && !timelineChanged) return before;

  const { workspaceId, id, revision } = after;
  await incidentStore(trx, workspaceId).update(id, { ...change, revision });
  if (changes.length > 0) {
    await changelogStore(trx).add({ incidentId: id, revision, actor: author.actor, changedAt: now, changes });
  }
  const told = { occurredAt: now, workspace: author.workspace, requestId: author.requestId };
  const incident = incidentSnapshot(after);
  await (event === 'incident.updated'
    ? outbox(trx).add({ ...told, type: event, data: { incident, changes } })
    : outbox(trx).add({ ...told, type: event, data: { incident } }));
  return after;
}
