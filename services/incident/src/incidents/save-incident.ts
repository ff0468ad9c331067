import type { TimelineEventSnapshot, EventWorkspace, Principal } from '@tocsin/contracts';
import { insertEvents, MAX_INSERTED_ROWS, type NewEvent, outbox } from '@tocsin/messaging';
import { type Knex, pipeline, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type Caller, eventOrigin } from '@tocsin/resources';
import { isActOfAnother } from './domain/acts.ts';
import { type Change, changesBetween, shortenChanges } from './domain/changes.ts';
import type { Incident } from './domain/incident.ts';
import { incidentReference, incidentSnapshot } from './domain/snapshot.ts';
import { insertChangelogEntry } from './store/changelog-store.ts';
import { dueChannelUpdate } from './store/channel-updates.ts';
import { updateOfIncident, type VersionedIncident } from './store/incident-store.ts';
import { updateOptimistically } from './store/optimistic-update.ts';
import { countReferences } from './store/service-references.ts';

/** What happened to one timeline event. */
export interface TimelineEventChange {
  type: `timeline_event.${'created' | 'updated' | 'deleted' | 'restored'}`;
  /** The event after the change; a deleted one as it was. */
  snapshot: TimelineEventSnapshot;
  /** As the changelog has it. */
  changes: readonly Change[];
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
  /** Changes of the timeline raise the revision even if no property differs; the changelog has them in an entry of its own. */
  timeline?: readonly TimelineEventChange[];
  /** Changes of what is no property, which changelog and event have as well. */
  others?: readonly Change[];
  /** Statements that are sent with the change of the incident, and executed before it. */
  also?: readonly Statement[];
  /** Whether an alert makes the change, which leaves the incident unhandled. */
  byAlert?: boolean;
  /** Whether the change is the end of the transaction, so that the COMMIT is sent with it. */
  commit?: boolean;
}

/**
 * Saves a change of a locked incident with its changelog entry and its events, or nothing if nothing differs. The revision
 * rises by one, no matter how many properties and timeline events change. The lock comes first, so that the rows of the
 * outbox have their IDs in the order of the revisions.
 */
export async function saveIncident(options: IncidentChange): Promise<Incident> {
  const { trx, author, before, now, event = 'incident.updated', timeline = [], also = [] } = options;
  const { after, properties, changes, entry } = effectOf(options);
  if (changes.length === 0 && timeline.length === 0) return before;

  const statements = [...also, updateOfIncident(after.workspaceId, after.id, properties)];
  if (changes.length > 0) {
    statements.push(
      insertChangelogEntry(entry),
      ...dueChannelUpdate(after, { changes, requestId: author.requestId, now }),
    );
  }
  if (timeline.length > 0) {
    const changesOfEvents = timeline.flatMap((each) => each.changes);
    statements.push(insertEntryOfParts({ author, incident: after, changes: changesOfEvents, now }));
  }
  statements.push(...countReferences(before, after));
  const events = eventsOf({ event, after, changes, timeline, author, now });
  if (events.length > MAX_INSERTED_ROWS) {
    await pipeline(trx, statements);
    await outbox(trx).add(...events);
  } else {
    await pipeline(trx, [...statements, insertEvents(events)], { commit: options.commit === true });
  }
  return after;
}

/**
 * Saves a change of properties that nothing else follows from, of an incident that no transaction has locked. Returns
 * undefined if that is up to a transaction: nothing differs, or it is another version now.
 */
export async function saveOptimistically(
  database: Knex,
  options: Pick<IncidentChange, 'author' | 'change' | 'now'> & { before: VersionedIncident },
): Promise<VersionedIncident | undefined> {
  const { before, author, now } = options;
  const { after, properties, changes, entry } = effectOf(options);
  const [event] = eventsOf({ event: 'incident.updated', after, changes, timeline: [], author, now });
  if (changes.length === 0 || event === undefined) return undefined;
  const version = await updateOptimistically(database, { before, properties, entry, event });
  return version && { ...after, ...version };
}

/** The state of the incident after a change, what is written of it, and the entry of the changelog. */
function effectOf<Version extends Incident>({
  author,
  before,
  change,
  now,
  others = [],
  byAlert = false,
}: Pick<IncidentChange, 'author' | 'change' | 'now' | 'others' | 'byAlert'> & { before: Version }) {
  const handled = before.isUnhandledAlert && !byAlert ? { isUnhandledAlert: false } : {};
  const isFirstAct = before.firstActedAt === null && !byAlert && isActOfAnother(before, author);
  const acted = isFirstAct ? { firstActedAt: now } : {};
  const properties = { ...change, ...handled, ...acted, revision: before.revision + 1 };
  const after = { ...before, ...properties };
  const { changes } = shortenChanges([...changesBetween(before, after), ...others]);
  const { id: incidentId, revision } = after;
  return {
    ...{ after, properties, changes },
    entry: { incidentId, revision, ...recordedActor(author), changedAt: now, changes },
  };
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
    { ...origin, type: event, data: { incident: incidentSnapshot(after), changes, ...publishedActor(author) } },
    ...timeline.map(({ type, snapshot }) => ({
      ...{ ...origin, type },
      data: { incident, timeline_event: snapshot, ...publishedActor(author) },
    })),
  ];
}

/** The entry of the changelog about timeline events or a follow-up of an incident, at its revision. */
export const insertEntryOfParts = ({
  author,
  incident: { id: incidentId, revision },
  changes,
  now: changedAt,
}: Pick<IncidentChange, 'author' | 'now'> & { incident: Incident; changes: readonly Change[] }) =>
  insertChangelogEntry({
    ...{ ...recordedActor(author), incidentId, revision, changedAt },
    ...{ changes: shortenChanges(changes).changes, isOfParts: true },
  });

/** The user's ID as text, as string fields and the changelog store it. */
export const actorOf = ({ principal }: Caller) => String(principal.user_id);

/** Who creates something, and with which key, as it is stored. */
export const creatorOf = (caller: Caller) => ({
  createdBy: actorOf(caller),
  createdByKey: caller.principal.key ?? null,
});

/** The author of a change, for the changelog and the event. */
export interface Author {
  /** A user's ID, or the name of a part of the system, such as `slack`. */
  actor: string;
  /** The API key that was used, as it is named at this moment; undefined if the system acts. */
  key: Principal['key'];
  workspace: EventWorkspace;
  /** The request that caused the change. */
  requestId: string;
}

export const authorOf = (caller: Caller): Author => ({
  actor: actorOf(caller),
  key: caller.principal.key,
  ...eventOrigin(caller),
});

/** Who made a change, as its entry in the changelog says it. */
export const recordedActor = ({ actor, key }: Author) => ({
  actor,
  keyName: key?.name ?? null,
  keyPrefix: key?.prefix ?? null,
  importKey: null,
  isOfParts: false,
});

/** Who changed a timeline event, as the event says it. */
export const editOf = ({ actor, key }: Author, now: Instant) => ({
  ...{ editedBy: actor, editedAt: now, editedKeyName: key?.name ?? null, editedKeyPrefix: key?.prefix ?? null },
});

/** As the events on the broker say it. */
export const publishedActor = ({ actor, key }: Author) => ({
  actor,
  api_key: key === undefined ? null : { name: key.name, prefix: key.prefix },
});
