import type { TimelineEventSnapshot, EventWorkspace, Principal } from '@tocsin/schemas';
import { insertAllEvents, type NewEvent } from '@tocsin/messaging';
import { type Knex, pipeline, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type Caller, eventOrigin } from '@tocsin/versioned-resources';
import { isActOfAnother } from './domain/acts.ts';
import { type Change, changesBetween, shortenChanges } from './domain/changes.ts';
import type { Incident } from './domain/incident.ts';
import { incidentReference, incidentSnapshot } from './domain/snapshot.ts';
import { insertChangelogEntry } from './store/changelog-store.ts';
import { dueChannelUpdate } from './store/channel-updates.ts';
import { updateOfIncident } from './store/incident-store.ts';
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
  author: Author;
  /** The incident as it was read. */
  before: Incident;
  change: Partial<Incident>;
  now: Instant;
  /** The event to publish; default: `incident.updated`. */
  event?: 'incident.updated' | 'incident.archived' | 'incident.restored';
  /** Changes of the timeline raise the revision even if no property differs; the changelog has them in an entry of its own. */
  timeline?: readonly TimelineEventChange[];
  /** Changes of what is no property, which changelog and event have as well. */
  others?: readonly Change[];
  /** Whether an alert makes the change, which leaves the incident unhandled. */
  byAlert?: boolean;
}

/** An incident after a change, and the statements that store it. */
export interface ChangedIncident {
  after: Incident;
  statements: Statement[];
}

/**
 * Changes a locked incident, with its changelog entry and its events; there are no statements if nothing differs. The
 * revision rises by one, no matter how many properties and timeline events change. The lock comes first, so that the rows
 * of the outbox have their IDs in the order of the revisions.
 */
export function changeIncident(options: IncidentChange): ChangedIncident {
  const { author, before, now, event = 'incident.updated', timeline = [] } = options;
  const { after, properties, changes, entry } = effectOf(options);
  if (changes.length === 0 && timeline.length === 0) return { after: before, statements: [] };

  const statements = [updateOfIncident(after.workspaceId, after.id, properties)];
  if (changes.length > 0) {
    statements.push(
      insertChangelogEntry(after.workspaceId, entry),
      ...dueChannelUpdate(after, { changes, requestId: author.requestId, now }),
    );
  }
  if (timeline.length > 0) {
    const changesOfEvents = timeline.flatMap((each) => each.changes);
    statements.push(insertEntryOfParts({ author, incident: after, changes: changesOfEvents, now }));
  }
  statements.push(...countReferences(before, after));
  statements.push(...insertAllEvents(eventsOf({ event, after, changes, timeline, author, now })));
  return { after, statements };
}

/** Stores a change in a transaction that goes on. @param also statements that are executed before it */
export async function save(
  trx: Knex.Transaction,
  { after, statements }: ChangedIncident,
  also: readonly Statement[] = [],
): Promise<Incident> {
  if (statements.length > 0) await pipeline(trx, [...also, ...statements]);
  return after;
}

/** The state of the incident after a change, what is written of it, and the entry of the changelog. */
function effectOf({ author, before, change, now, others = [], byAlert = false }: IncidentChange) {
  const handled = before.isUnhandledAlert && !byAlert ? { isUnhandledAlert: false } : {};
  const isFirstAct = before.firstActedAt === null && !byAlert && isActOfAnother(before, author);
  const acted = isFirstAct ? { firstActedAt: now } : {};
  const { nextUpdateAt = before.nextUpdateAt } = change;
  const promised =
    nextUpdateAt === before.nextUpdateAt ? {} : { updateReminder: nextUpdateAt === null ? null : author.workspace };
  const properties = { ...change, ...handled, ...acted, ...promised, revision: before.revision + 1 };
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
  const { workspace, requestId } = author;
  const origin = { occurredAt: now, workspace, requestId, restricted: after.restricted };
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
  incident: { workspaceId, id: incidentId, revision },
  changes,
  now: changedAt,
}: Pick<IncidentChange, 'author' | 'now'> & { incident: Incident; changes: readonly Change[] }) =>
  insertChangelogEntry(workspaceId, {
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
