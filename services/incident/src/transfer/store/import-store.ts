import type { Statement } from '@tocsin/postgres';
import { entriesOf, type Instant } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import type { Incident } from '../../incidents/domain/incident.ts';
import { INCIDENT_SELECTION, INCIDENT_TABLE, toListColumns } from '../../incidents/store/incident-row.ts';
import type { TimelineEvent } from '../../timeline/domain/timeline-event.ts';
import type { FollowUp } from '../../follow-ups/domain/follow-up.ts';
import { FOLLOW_UP_SELECTION, toFollowUpColumns } from '../../follow-ups/store/follow-up-store.ts';
import type { WrittenPostmortem } from '../../postmortem/domain/written.ts';
import { toWrittenRow, WRITTEN_SELECTION } from '../../postmortem/store/written-store.ts';
import { nativeIdOf } from '../domain/item.ts';
import { toTimelineRow } from '../../timeline/store/timeline-row.ts';
import { visible } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { insertRows, upsertRows } from '../../shared/store/sql.ts';

// The statements of an import: each is for all incidents of a request, whose rows are in one JSON parameter.

/** Locks the counter of a workspace, so that nothing else creates incidents in it or changes its configuration. */
export const lockCounter = (workspaceId: number): Statement<{ last: number; version: number }> => ({
  name: 'lock-incident-counter',
  text: `insert into incident_counters as counter (workspace_id, last) values ($1, 0)
    on conflict (workspace_id) do update set last = counter.last
    returning last, configuration_version as version`,
  values: [workspaceId],
});

export const raiseCounter = (workspaceId: number, last: number): Statement => ({
  name: 'raise-incident-counter',
  text: 'update incident_counters set last = $2 where workspace_id = $1',
  values: [workspaceId, last],
});

/** Locks the incidents with these external IDs, and returns them, also those that the request may not see. */
export const lockByExternalIds = (
  workspaceId: number,
  externalIds: readonly string[],
): Statement<Incident & { isVisible: boolean }> => ({
  name: 'lock-incidents-by-external-id',
  text: `select ${INCIDENT_SELECTION}, ${visible('incidents', 3)} as "isVisible" from incidents
    where workspace_id = $1 and external_id = any((select $2::text[])::text[]) and external_id is not null
    order by incidents.id for update`,
  values: [workspaceId, externalIds, currentViewer()],
});

/** What a relation of an item needs of its incidents. */
export type NamedIncident = Pick<Incident, 'id' | 'number' | 'restricted'> & {
  externalId: string;
  isImported: boolean;
};

/** As `lockByExternalIds`, of many incidents. */
export const lockNamed = (workspaceId: number, externalIds: readonly string[]): Statement<NamedIncident> => ({
  name: 'lock-named-incidents',
  text: `select id, number, restricted, external_id as "externalId", imported_at is not null as "isImported" from incidents
    where workspace_id = $1 and external_id = any((select $2::text[])::text[]) and external_id is not null
      and ${visible('incidents', 3)}
    order by incidents.id for update`,
  values: [workspaceId, externalIds, currentViewer()],
});

/** Takes the next IDs of a table. Those of events come after the locks of their incidents, see `NEXT_EVENT_ID`. */
export const nextIds = (
  table: 'incidents' | 'timeline_events' | 'follow_ups',
  count: number,
): Statement<{ id: number }> => ({
  name: `next-ids-of-${table}`,
  text: `select nextval('${table}_id_seq') as id from generate_series(1, (select $1::integer))`,
  values: [count],
});

/** What an import compares of an event that an item names; of the body, which may be large, whether it differs. */
export type StoredEvent = Omit<
  TimelineEvent,
  | ('body' | 'commentCount' | 'aiContext' | 'evidenceLinks' | 'sourceWindowStartedAt' | 'sourceWindowEndedAt')
  | ('editedBy' | 'editedAt' | 'editedKeyName' | 'editedKeyPrefix')
> & { externalId: string; isRewritten: boolean; isNative: boolean };

export interface NamedEvent {
  incidentId: number;
  externalId: string;
  body: string;
}

/** The event of a name; what identifies it follows. */
const NAMED_EVENT = `select id, incident_id, revision, started_at, ended_at, is_ongoing, group_id, is_key, source,
    source_ref, type, icon, title, body, collaboration_generation, tags, created_by, created_by_key, external_id
  from timeline_events where workspace_id = $1 and incident_id = named.incident_id`;

/**
 * Finds the events that imports made under these external IDs, and those that this workspace exports under them. Nothing is
 * joined to what is found by a name: planned while the table was empty, a join would look up all names for each event.
 */
export const findEvents = (workspaceId: number, named: readonly NamedEvent[]): Statement<StoredEvent> => ({
  name: 'find-imported-events',
  text: `select event.id, event.incident_id as "incidentId", named.external_id as "externalId", event.revision,
      event.started_at as "startedAt", event.ended_at as "endedAt", event.is_ongoing as "isOngoing",
      event.group_id as "groupId", event.is_key as "isKey", event.source, event.source_ref as "sourceRef", event.type,
      event.icon, event.title, event.collaboration_generation as "collaborationGeneration", event.tags,
      event.created_by as "createdBy", event.created_by_key as "createdByKey", event.body <> named.body as "isRewritten", event.external_id is null as "isNative"
    from unnest((select $2::bigint[]), (select $3::text[]), (select $4::text[]), (select $5::bigint[]))
      as named (incident_id, external_id, body, native_id)
    cross join lateral (
      ${NAMED_EVENT} and external_id = named.external_id
      union all
      ${NAMED_EVENT} and id = named.native_id and external_id is null
    ) as event
    order by event.external_id nulls first`,
  values: [
    workspaceId,
    named.map(({ incidentId }) => incidentId),
    named.map(({ externalId }) => externalId),
    named.map(({ body }) => body),
    named.map(({ externalId }) => nativeIdOf(externalId)),
  ],
});

/** The follow-ups of these incidents: each has few. */
export const findFollowUps = (workspaceId: number, incidentIds: readonly number[]): Statement<FollowUp> => ({
  name: 'find-follow-ups',
  text: `select ${FOLLOW_UP_SELECTION} from follow_ups
    where workspace_id = $1 and incident_id = any((select $2::bigint[])::bigint[])`,
  values: [workspaceId, incidentIds],
});

export interface NamedEntry {
  incidentId: number;
  changedAt: Instant;
  actor: string;
  changes: readonly Change[];
  importKey: string;
}

/** Returns the places of those entries that the changelog does not have, by an import or as this workspace exports them. */
export const findMissingEntries = (
  workspaceId: number,
  entries: readonly NamedEntry[],
): Statement<{ place: number }> => ({
  name: 'find-missing-changelog-entries',
  text: `select place from jsonb_to_recordset($2::jsonb)
      as entry (place integer, incident_id bigint, changed_at timestamptz, actor text, changes jsonb, import_key text)
    where not exists (
      select 1 from changelog where changelog.workspace_id = $1 and changelog.incident_id = entry.incident_id
        and changelog.import_key = entry.import_key)
      and not exists (
      select 1 from changelog where changelog.workspace_id = $1 and changelog.incident_id = entry.incident_id
        and changelog.changed_at = entry.changed_at and changelog.actor = entry.actor
        and changelog.changes = entry.changes)`,
  values: [
    workspaceId,
    JSON.stringify(
      entries.map(({ incidentId, changedAt, actor, changes, importKey }, place) => ({
        ...{ place, incident_id: incidentId, changed_at: changedAt, actor, changes, import_key: importKey },
      })),
    ),
  ],
});

export type LatestEvent = Pick<TimelineEvent, 'id' | 'incidentId' | 'startedAt' | 'title' | 'body'>;

/** Returns the latest event of each of these incidents, except of these events, which will change. */
export const findLatestEvents = (
  workspaceId: number,
  incidentIds: readonly number[],
  except: readonly number[],
): Statement<LatestEvent> => ({
  name: 'find-latest-events',
  text: `select latest.id, incident.id as "incidentId", latest.started_at as "startedAt", latest.title, latest.body
    from unnest((select $2::bigint[])) as incident (id)
    cross join lateral (
      select id, started_at, title, left(body, 140) as body from timeline_events
      where workspace_id = $1 and incident_id = incident.id and id <> all($3::bigint[])
      order by started_at desc, id desc limit 1
    ) as latest`,
  values: [workspaceId, incidentIds, except],
});

const INCIDENT_COLUMNS = [
  ...Object.values(INCIDENT_TABLE).map(({ name }) => name),
  ...Object.keys(toListColumns({ workspaceId: 0, title: '', impactSummary: '', service: '', regions: [], roles: {} })),
];

/** Inserts incidents, or writes all their properties if they exist, which this transaction has locked then. */
export const putIncidents = (incidents: readonly Incident[]): Statement => ({
  name: 'put-incidents',
  text: upsertRows('incidents', { columns: INCIDENT_COLUMNS, key: 'workspace_id, id' }),
  values: [
    JSON.stringify(
      incidents.map((incident) => ({
        ...Object.fromEntries(entriesOf(INCIDENT_TABLE).map(([property, { name }]) => [name, incident[property]])),
        ...toListColumns(incident),
      })),
    ),
  ],
});

export type ImportedTimelineEvent = TimelineEvent & { externalId: string };

/** A search also looks into what an import does not have. */
const TEXTS_FOLDED = `texts_folded = excluded.texts_folded[1:2] || timeline_events.texts_folded[3] || excluded.texts_folded[4]`;
/** What an import sets of an event. */
const EVENT_COLUMNS = [
  ...['revision', 'started_at', 'ended_at', 'is_ongoing', 'group_id', 'is_key', 'source', 'source_ref', 'type', 'icon'],
  ...['title', 'body', 'collaboration_generation', 'tags', 'created_by', 'created_by_key'],
  ...['source_folded', 'type_folded', 'tags_folded'],
  ...['edited_by', 'edited_at', 'edited_key_name', 'edited_key_prefix'],
];

/** Inserts events, or changes them if they exist. */
export function putEvents(workspaceId: number, events: readonly ImportedTimelineEvent[]): Statement {
  const rows = events.map((event) => ({ ...toTimelineRow(workspaceId, event), id: event.id }));
  const columns = Object.keys(rows[0] ?? {});
  const assignments = [...EVENT_COLUMNS.map((name) => `${name} = excluded.${name}`), TEXTS_FOLDED];
  return {
    name: 'put-timeline-events',
    text: `${insertRows('timeline_events', columns)} on conflict (workspace_id, id) do update set ${assignments.join(', ')}`,
    values: [JSON.stringify(rows)],
  };
}

/** Inserts follow-ups, or writes all their properties if they exist. */
export function putFollowUps(workspaceId: number, followUps: readonly FollowUp[]): Statement {
  const rows = followUps.map((followUp) => ({
    ...toFollowUpColumns(workspaceId, followUp),
    created_by_key: followUp.createdByKey,
  }));
  const columns = Object.keys(rows[0] ?? {});
  return {
    name: 'put-follow-ups',
    text: upsertRows('follow_ups', { columns, key: 'workspace_id, id' }),
    values: [JSON.stringify(rows)],
  };
}

/** What people have written of these incidents. */
export const findPostmortems = (workspaceId: number, incidentIds: readonly number[]): Statement<WrittenPostmortem> => ({
  name: 'find-postmortems',
  text: `select ${WRITTEN_SELECTION} from postmortems
    where workspace_id = $1 and incident_id = any((select $2::bigint[])::bigint[])`,
  values: [workspaceId, incidentIds],
});

/** Inserts post-mortems, or writes all their properties if they exist. */
export function putPostmortems(workspaceId: number, postmortems: readonly WrittenPostmortem[]): Statement {
  const rows = postmortems.map((written) => ({
    ...toWrittenRow(workspaceId, written),
    ...{ sections: written.sections, created_by_key: written.createdByKey, updated_by_key: written.updatedByKey },
  }));
  const columns = Object.keys(rows[0] ?? {});
  return {
    name: 'put-postmortems',
    text: upsertRows('postmortems', { columns, key: 'workspace_id, incident_id' }),
    values: [JSON.stringify(rows)],
  };
}
