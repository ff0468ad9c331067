/**
 * `postmortem` is the post-mortem of an incident (contract: Post-mortems). `readPostmortem` computes what is known for
 * each request (ADR 99): one transaction that only reads, of one snapshot, reads the incident, what people have written,
 * its relations and follow-ups, and the first and last entries of its timeline and changelog in one order of time, at
 * most 1,000 and 1 MiB; the others are counted. Names and labels are read after it, from the configuration, the replicas
 * and the gateway; without the gateway it is 503 if there are people to name. Those of a workspace take turns, because a
 * large one takes long. `http/views.ts` makes the JSON, `http/document.ts` the Markdown of the same content, by the
 * workspace's template or the written sections, and `http/page.ts` HTML of that. `write-postmortem.ts` begins and changes
 * the document (ADR 127) under the lock of the incident, whose revision stays: what it was, the row, the state in the
 * incident and, if that changes, changelog entry and event commit together.
 */
import type { Principal } from '@tocsin/schemas';
import { throttleByWorkspace } from '@tocsin/http';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { type Listed, readWhole } from '@tocsin/versioned-resources';
import type { Configuration } from '../configuration/domain/configuration.ts';
import { findPostmortemTemplate } from '../configuration/store/configuration-store.ts';
import { FOLLOW_UP_LIMITS, type FollowUp } from '../follow-ups/domain/follow-up.ts';
import { listFollowUps } from '../follow-ups/store/follow-up-list.ts';
import { keyOf } from '../incidents/domain/acts.ts';
import { shortenChanges } from '../incidents/domain/changes.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import type { CommandDependencies } from '../incidents/run-command.ts';
import type { ChangelogEntry } from '../incidents/store/changelog-store.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { MAX_OF_A_TYPE, type Relation, RELATION_TYPES } from '../relations/domain/relation.ts';
import { relationStore } from '../relations/store/relation-store.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import type { Fields } from '../replicas/domain/fields.ts';
import { replicatedServices, replicatedTeams } from '../replicas/store/replica-reads.ts';
import type { TimelineEvent } from '../timeline/domain/timeline-event.ts';
import { type Attachment, selectAttachments } from '../timeline/store/attachment-store.ts';
import { currentFields } from '../values/set-values.ts';
import { type Entry, HALF, MAX_ENTRIES, orderEntries, type Position, takeFromBothEnds } from './domain/activity.ts';
import { namedIn } from './domain/names.ts';
import type { WrittenPostmortem } from './domain/written.ts';
import { countChanges, selectChanges, selectEvents, wholeChanges, wholeEvents } from './store/activity-store.ts';
import { selectWritten } from './store/written-store.ts';

export interface PostmortemDependencies extends CommandDependencies {
  owners: Pick<Owners, 'findPeople'>;
}

/** What a post-mortem is made of. */
export interface PostmortemFacts extends History {
  incident: Incident;
  configuration: Configuration;
  fields: Fields;
  /** Of the users and teams that the rest names. */
  userNames: ReadonlyMap<number, string>;
  teamNames: ReadonlyMap<number, string>;
  /** The workspace's own; empty: none. */
  template: string;
  /** Undefined: nobody has begun. */
  written: WrittenPostmortem | undefined;
  /** Of the incident's service; null if the catalog does not have it. */
  tier: string | null;
}

interface History {
  relations: Relation[];
  followUps: FollowUp[];
  /** The beginning and the end of the activity; together they are all of it, if nothing is left out. */
  head: Entry[];
  tail: Entry[];
  /** Of the events in it. */
  attachments: Attachment[];
  leftOut: { events: number; changes: number; attachments: number };
}

/**
 * Reads the incident and its history as they are at one moment (contract: Post-mortems), and then the names that they
 * refer to. Those of one workspace take turns: a large one takes a second.
 * @throws DomainError `not_found`, `service_unavailable`
 */
export async function readPostmortem(
  dependencies: PostmortemDependencies,
  { principal: { workspace }, id }: { principal: Principal; id: number },
): Promise<PostmortemFacts> {
  const { database, configurations, owners } = dependencies;
  return throttleByWorkspace(workspace.id, async () => {
    const read = async (db: Knex) => {
      const incident = await incidentStore(db, workspace.id).get(id);
      const [written] = await query(db, selectWritten({ workspaceId: workspace.id, incidentId: id }));
      return { incident, written, ...(await readHistory(db, incident)) };
    };
    const facts = await database.transaction(read, { isolationLevel: 'repeatable read', readOnly: true });
    const fields = await currentFields(dependencies, workspace);
    const { userIds, teamIds } = namedIn(facts);
    const users = userIds.length === 0 ? [] : await owners.findPeople(workspace.id, { ids: userIds });
    return {
      ...facts,
      fields,
      configuration: await configurations.get(workspace),
      template: await findPostmortemTemplate(database, workspace.id),
      userNames: new Map(users.map(({ id: userId, name }) => [userId, name])),
      teamNames: await replicatedTeams(database, workspace.id).findNames(teamIds),
      tier: await replicatedServices(database, workspace.id).findTier(facts.incident.service),
    };
  });
}

type ListedEntry = Position &
  ({ kind: 'timeline_event'; row: Listed<TimelineEvent> } | { kind: 'change'; row: Listed<ChangelogEntry> });

async function readHistory(db: Knex, incident: Incident): Promise<History> {
  const { id: incidentId, workspaceId, eventCount } = incident;
  const part = (end: 'first' | 'last') => ({ workspaceId, incidentId, end, limit: HALF });
  const [firstEvents, lastEvents, firstChanges, lastChanges, [counted]] = await pipeline<
    [Listed<TimelineEvent>, Listed<TimelineEvent>, Listed<ChangelogEntry>, Listed<ChangelogEntry>, { count: number }]
  >(db, [
    selectEvents(part('first')),
    selectEvents(part('last')),
    selectChanges(part('first')),
    selectChanges(part('last')),
    countChanges(workspaceId, incidentId),
  ]);
  const entries = orderEntries<ListedEntry>([
    ...[...firstEvents, ...lastEvents].map((row) => ({
      kind: 'timeline_event' as const,
      at: row.startedAt,
      id: row.id,
      row,
    })),
    ...[...firstChanges, ...lastChanges].map((row) => ({
      kind: 'change' as const,
      at: row.changedAt,
      id: row.id,
      row,
    })),
  ]);
  const { head, tail } = await takeFromBothEnds(entries.length, {
    forward: wholeEntries(db, workspaceId, entries),
    backward: wholeEntries(db, workspaceId, entries.toReversed()),
  });
  const shown = [...head, ...tail];
  const eventIds = shown.flatMap((entry) => (entry.kind === 'timeline_event' ? [entry.id] : []));
  const attachments = await query(db, selectAttachments(workspaceId, eventIds));
  const filters = { statuses: [], owner: null, incidentId, dueBefore: null, text: null };
  const ofIncident = { workspaceId, filters, after: undefined, limit: FOLLOW_UP_LIMITS.ofIncident };
  return {
    relations: await relationStore(db, incident).list(0, MAX_OF_A_TYPE * RELATION_TYPES.length),
    followUps: (await listFollowUps(db, ofIncident)).listed,
    ...{ head, tail, attachments: attachments.slice(0, MAX_ENTRIES) },
    leftOut: {
      events: eventCount - eventIds.length,
      changes: (counted?.count ?? 0) - (shown.length - eventIds.length),
      attachments: Math.max(0, attachments.length - MAX_ENTRIES),
    },
  };
}

/** Reads entries completely, in their order, only as far as they are asked for. */
async function* wholeEntries(
  db: Knex,
  workspaceId: number,
  entries: readonly ListedEntry[],
): AsyncGenerator<Entry, undefined> {
  const reading =
    <Row>(statement: (workspaceId: number, ids: readonly number[]) => Statement<Row>) =>
    async (ids: readonly number[]) =>
      (await pipeline<[Row]>(db, [statement(workspaceId, ids)]))[0];
  const listedEvents = entries.flatMap((entry) => (entry.kind === 'timeline_event' ? [entry.row] : []));
  const listedChanges = entries.flatMap((entry) => (entry.kind === 'change' ? [entry.row] : []));
  const events = inOrder(readWhole<TimelineEvent>(listedEvents, reading(wholeEvents)));
  const changes = inOrder(readWhole<ChangelogEntry>(listedChanges, reading(wholeChanges)));
  for (const { kind, at, id } of entries) {
    if (kind === 'timeline_event') yield { kind, at, id, event: (await events.next()).value as TimelineEvent };
    else {
      const entry = (await changes.next()).value as ChangelogEntry;
      const { changes: changed } = shortenChanges(entry.changes);
      yield { kind, at, id, actor: entry.actor, key: keyOf(entry), changes: changed };
    }
  }
}

async function* inOrder<Row>(rows: Iterable<Row> | AsyncIterable<Row>): AsyncGenerator<Row, undefined> {
  yield* rows;
}
