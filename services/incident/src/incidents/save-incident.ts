import type { TimelineEventSnapshot } from '@tocsin/contracts';
import { insertEvents, MAX_INSERTED_ROWS, type NewEvent, outbox } from '@tocsin/messaging';
import { commitPipeline, type Knex, type PreparedStatement, runPipeline } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type Change, changesBetween } from './domain/changes.ts';
import type { Incident } from './domain/incident.ts';
import { shortenChanges } from './domain/large-changes.ts';
import { incidentReference, incidentSnapshot } from './domain/snapshot.ts';
import { insertChangelogEntry } from './store/changelog-store.ts';
import { updateOfIncident } from './store/incident-store.ts';
import { countReferences } from './store/service-references.ts';
import { type Author, recordedActor } from './author.ts';

/** What happened to one timeline event. */
export interface TimelineEventChange {
  type: 'timeline_event.created' | 'timeline_event.updated' | 'timeline_event.deleted';
  /** The event after the change; a deleted one as it was. */
  snapshot: TimelineEventSnapshot;
}

export interface IncidentChange {
  trx: Knex.Transaction;
  author: Author;
  /** The incident as this transaction read and locked it. */
  before: Incident;
  change: Partial<Incident>;
  now: Instant;
  /** The event to publish; default: `incident.updated`. */
  event?: 'incident.updated' | 'incident.archived' | 'incident.restored';
  /** Changes of the timeline raise the revision even if no property differs, but add no changelog entry. */
  timeline?: readonly TimelineEventChange[];
  /** What changes the timeline: statements that are sent with the change of the incident, and executed before it. */
  also?: readonly PreparedStatement[];
  /** Whether the change is the end of the transaction, so that the COMMIT is sent with it. */
  commit?: boolean;
}

/**
 * Saves a change of a locked incident with its changelog entry and its events, or nothing if nothing differs. The revision
 * rises by one, no matter how many properties and timeline events change. The lock comes first, so that the rows of the
 * outbox have their IDs in the order of the revisions.
 */
export async function saveIncident(options: IncidentChange): Promise<Incident> {
  const { trx, author, before, change, now, event = 'incident.updated', timeline = [], also = [] } = options;
  const after = { ...before, ...change, revision: before.revision + 1 };
  const { changes } = shortenChanges(changesBetween(before, after));
  if (changes.length === 0 && timeline.length === 0) return before;

  const { workspaceId, id, revision } = after;
  const statements = [...also, updateOfIncident(workspaceId, id, { ...change, revision })];
  if (changes.length > 0) {
    const entry = { incidentId: id, revision, ...recordedActor(author), changedAt: now, changes };
    statements.push(insertChangelogEntry(entry));
  }
  statements.push(...countReferences(before, after));
  const events = eventsOf({ event, after, changes, timeline, author, now });
  if (events.length > MAX_INSERTED_ROWS) {
    await runPipeline(trx, statements);
    await outbox(trx).add(...events);
  } else {
    const send = options.commit === true ? commitPipeline : runPipeline;
    await send(trx, [...statements, insertEvents(events)]);
  }
  return after;
}

function eventsOf({
  event,
  after,
  changes,
  timeline,
  author,
  now,
}: Required<Pick<IncidentChange, 'event' | 'timeline' | 'author' | 'now'>> & {
  after: Incident;
  changes: Change[];
}): NewEvent[] {
  const origin = { occurredAt: now, workspace: author.workspace, requestId: author.requestId };
  const incident = incidentReference(after);
  return [
    { ...origin, type: event, data: { incident: incidentSnapshot(after), changes } },
    ...timeline.map(({ type, snapshot }) => ({ ...origin, type, data: { incident, timeline_event: snapshot } })),
  ];
}
