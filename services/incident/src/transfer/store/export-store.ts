import type { Statement } from '@tocsin/postgres';
import { type Listed, listedColumns } from '@tocsin/versioned-resources';
import { BY_IMPORT, changelogMapping } from '../../incidents/store/changelog-store.ts';
import type { Incident } from '../../incidents/domain/incident.ts';
import { HAS_NUMBER, INCIDENT_SELECTION } from '../../incidents/store/incident-row.ts';
import type { FollowUp } from '../../follow-ups/domain/follow-up.ts';
import { FOLLOW_UP_SELECTION, LISTED_FOLLOW_UP_COLUMNS } from '../../follow-ups/store/follow-up-store.ts';
import type { WrittenPostmortem } from '../../postmortem/domain/written.ts';
import { selectWritten } from '../../postmortem/store/written-store.ts';
import { visible } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { timelineMapping } from '../../timeline/store/timeline-row.ts';
import type { ExportedChange, ExportedEvent, ExportedRelation } from '../domain/export-line.ts';

/** Rows of a page of a timeline or a changelog. */
export const EXPORT_PAGE = 100;

type IncidentKey = Pick<Incident, 'workspaceId' | 'id'>;

/** Reads incidents after a number, in the order of numbers. */
export const incidentsAfter = (workspaceId: number, after: number, limit: number): Statement<Incident> => ({
  name: 'export-incidents',
  text: `select ${INCIDENT_SELECTION} from incidents
    where workspace_id = $1 and number > $2 and ${HAS_NUMBER} and ${visible('incidents', 4)} order by number limit $3`,
  values: [workspaceId, after, limit, currentViewer()],
});

export const revisionOf = (workspaceId: number, id: number): Statement<{ revision: number }> => ({
  name: 'export-revision',
  text: `select revision from incidents where workspace_id = $1 and id = $2 and ${visible('incidents', 3)}`,
  values: [workspaceId, id, currentViewer()],
});

const EVENT_NAMES =
  'id external_id started_at ended_at is_ongoing is_key type icon title body tags source source_ref created_by created_by_key'.split(
    ' ',
  );
const EVENTS = `from timeline_events as event
  left join timeline_groups as timeline_group
    on timeline_group.workspace_id = event.workspace_id and timeline_group.id = event.group_id`;

/** A page of a timeline, after an event; large bodies are left out. */
export const eventsAfter = (
  { workspaceId, id }: IncidentKey,
  after: Pick<ExportedEvent, 'id' | 'startedAt'> | undefined,
): Statement<Listed<ExportedEvent>> => ({
  name: 'export-events',
  text: `select timeline_group.name as "group",
      ${listedColumns({ table: 'event', names: EVENT_NAMES, as: timelineMapping.propertyOf, large: { body: 'text' } })}
    ${EVENTS} where event.workspace_id = $1 and event.incident_id = $2
      and (event.started_at, event.id) > ($3::timestamptz, $4::bigint)
    order by event.started_at, event.id limit ${EXPORT_PAGE}`,
  values: [workspaceId, id, after?.startedAt ?? '-infinity', after?.id ?? 0],
});

export const wholeEvents = ({ workspaceId }: IncidentKey, ids: readonly number[]): Statement<ExportedEvent> => ({
  name: 'export-whole-events',
  text: `select timeline_group.name as "group",
      ${EVENT_NAMES.map((name) => `event.${name} as "${timelineMapping.propertyOf.get(name)}"`).join(', ')}
    ${EVENTS} where event.workspace_id = $1 and event.id = any((select $2::bigint[])::bigint[])`,
  values: [workspaceId, ids],
});

/** A page of the follow-ups of an incident, by ID, after one; large descriptions are left out. */
export const followUpsAfter = ({ workspaceId, id }: IncidentKey, after: number): Statement<Listed<FollowUp>> => ({
  name: 'export-follow-ups',
  text: `select ${LISTED_FOLLOW_UP_COLUMNS} from follow_ups as follow_up
    where workspace_id = $1 and incident_id = $2 and id > $3 order by id limit ${EXPORT_PAGE}`,
  values: [workspaceId, id, after],
});

export const wholeFollowUps = ({ workspaceId }: IncidentKey, ids: readonly number[]): Statement<FollowUp> => ({
  name: 'export-whole-follow-ups',
  text: `select ${FOLLOW_UP_SELECTION} from follow_ups
    where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
  values: [workspaceId, ids],
});

export const findPostmortem = ({ workspaceId, id }: IncidentKey): Statement<WrittenPostmortem> =>
  selectWritten({ workspaceId, incidentId: id });

/** A page of the relations of an incident by the number of the other one, after a relation. */
export const relationsAfter = (
  { workspaceId, id }: IncidentKey,
  after: Pick<ExportedRelation, 'number' | 'type'> | undefined,
): Statement<Listed<ExportedRelation>> => ({
  name: 'export-relations',
  text: `select relation.id, relation.type, relation.created_at as "createdAt", relation.created_by as "createdBy",
      related.number, related.external_id as "externalId", null as "largeWeight"
    from incident_relations as relation join incidents as related
      on related.workspace_id = relation.workspace_id and related.id = relation.related_id
    where relation.workspace_id = $1 and relation.incident_id = $2 and ${visible('related', 5)}
      and (related.number, relation.type) > ($3::bigint, $4::text)
    order by related.number, relation.type limit ${EXPORT_PAGE}`,
  values: [workspaceId, id, after?.number ?? 0, after?.type ?? '', currentViewer()],
});

const CHANGE_NAMES = ['id', 'actor', 'api_key_name', 'api_key_prefix', 'changed_at', 'changes'];

/** A page of a changelog, the oldest first, after an entry, without those of imports themselves, and of events and follow-ups; large changes are left out. */
export const changesAfter = ({ workspaceId, id }: IncidentKey, after: number): Statement<Listed<ExportedChange>> => ({
  name: 'export-changes',
  text: `select ${listedColumns({ table: 'changelog', names: CHANGE_NAMES, as: changelogMapping.propertyOf, large: { changes: 'jsonb' } })}
    from changelog where workspace_id = $1 and incident_id = $2 and id > $3 and import_key is distinct from '${BY_IMPORT}'
      and not is_of_parts order by id limit ${EXPORT_PAGE}`,
  values: [workspaceId, id, after],
});

export const wholeChanges = ({ workspaceId }: IncidentKey, ids: readonly number[]): Statement<ExportedChange> => ({
  name: 'export-whole-changes',
  text: `select ${CHANGE_NAMES.map((name) => `${name} as "${changelogMapping.propertyOf.get(name)}"`).join(', ')}
    from changelog where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
  values: [workspaceId, ids],
});
