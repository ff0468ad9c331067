import { invalidState, notFound } from '@tocsin/http';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import { type Listed, listedColumns, readWhole } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import type { TimelineEvent } from '../domain/timeline-event.ts';
import { isOfVisibleText } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { ATTACHMENT_COLUMNS } from './attachment-store.ts';
import { TIMELINE_SELECTION, timelineMapping } from './timeline-row.ts';

/** What an event was before it was changed or deleted. */
export interface FormerTimelineEvent extends TimelineEvent {
  eventId: number;
  /** Null: it was changed. */
  deletedAt: Instant | null;
  deletedBy: string | null;
  deletedKeyName: string | null;
  deletedKeyPrefix: string | null;
  /** Rows of its attachments; null: none. */
  files: readonly { id: number; filename: string; content_type: string; size_bytes: number }[] | null;
}

const COLUMNS = timelineMapping.names.join(', ');

/** The rows of the attachments of an event. */
const FILES = `(select jsonb_agg(to_jsonb(file) order by file.id) from timeline_attachments as file
  where file.workspace_id = $1 and file.timeline_event_id = event.id)`;

/** Keeps the present states of events, which the transaction is about to change. */
export const keepEvents = (workspaceId: number, ids: readonly number[]): Statement => ({
  name: 'keep-timeline-events',
  text: `insert into former_timeline_events (workspace_id, ${COLUMNS}, attachments)
    select workspace_id, ${COLUMNS}, ${FILES} from timeline_events as event
    where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
  values: [workspaceId, ids],
});

/** Deletes an event, and keeps it with its attachments. */
export const moveToDeleted = (
  workspaceId: number,
  id: number,
  by: { at: Instant; actor: string; keyName: string | null; keyPrefix: string | null },
): Statement => ({
  name: 'delete-timeline-event',
  text: `with gone as (
      delete from timeline_events where workspace_id = $1 and id = $2 returning workspace_id, ${COLUMNS})
    insert into former_timeline_events (workspace_id, ${COLUMNS},
      deleted_at, deleted_by, deleted_key_name, deleted_key_prefix, attachments)
    select workspace_id, ${COLUMNS}, $3, $4, $5, $6, ${FILES}
    from gone as event`,
  values: [workspaceId, id, by.at, by.actor, by.keyName, by.keyPrefix],
});

/** Removes an event, which the transaction has inserted again, from the deleted ones, and restores its attachments. */
export const restoreAttachments = (workspaceId: number, id: number): Statement => ({
  name: 'restore-timeline-attachments',
  text: `with gone as (
      delete from former_timeline_events
      where workspace_id = $1 and id = $2 and deleted_at is not null returning attachments)
    insert into timeline_attachments (workspace_id, ${ATTACHMENT_COLUMNS})
    select $1, ${ATTACHMENT_COLUMNS} from gone
    cross join jsonb_populate_recordset(null::timeline_attachments, attachments)`,
  values: [workspaceId, id],
});

const GET_DELETED = `
  select ${TIMELINE_SELECTION}, deleted_at as "deletedAt",
    exists (select 1 from timeline_groups as own where own.workspace_id = $1 and own.id = group_id) as "hasGroup",
    exists (select 1 from timeline_events as present
      where present.workspace_id = $1 and present.incident_id = former.incident_id and present.external_id = former.external_id) as "isThereAgain"
  from former_timeline_events as former where workspace_id = $1 and id = $2 and deleted_at is not null
    and ${isOfVisibleText('former.incident_id', 3)}`;

type Deleted = TimelineEvent & { deletedAt: Instant; hasGroup: boolean; isThereAgain: boolean };

const NAMES = [
  ...['seq', ...timelineMapping.names, 'deleted_at', 'deleted_by', 'deleted_key_name', 'deleted_key_prefix'],
  'attachments',
];
/** Rows of lists are known by their sequence numbers. */
const PROPERTIES = new Map([
  ...timelineMapping.propertyOf,
  ...([
    ['seq', 'id'],
    ['id', 'eventId'],
    ['deleted_at', 'deletedAt'],
    ['deleted_by', 'deletedBy'],
    ['deleted_key_name', 'deletedKeyName'],
    ['deleted_key_prefix', 'deletedKeyPrefix'],
    ['attachments', 'files'],
  ] as const),
]);
const WHOLE = NAMES.map((name) => `${name} as "${PROPERTIES.get(name)}"`).join(', ');
const LISTED = listedColumns({
  ...{ table: 'former_timeline_events', names: NAMES, as: PROPERTIES },
  large: { body: 'text' },
});

/** What the timeline events of one workspace were, over a pool or a transaction. */
export function formerEventStore(db: Knex, workspaceId: number) {
  return {
    /** A deleted event, without its group if that is gone. @throws DomainError `not_found`, `invalid_resource_state` */
    async getDeleted(id: number): Promise<TimelineEvent & { deletedAt: Instant }> {
      const [deleted] = await query<Deleted>(db, {
        name: 'get-deleted-event',
        text: GET_DELETED,
        values: [workspaceId, id, currentViewer()],
      });
      if (deleted === undefined) {
        const present = await query(db, {
          name: 'find-present-event',
          text: `select id from timeline_events
            where workspace_id = $1 and id = $2 and ${isOfVisibleText('timeline_events.incident_id', 3)}`,
          values: [workspaceId, id, currentViewer()],
        });
        throw present.length > 0 ? invalidState('The timeline event is not deleted') : notFound('The timeline event');
      }
      const { hasGroup, isThereAgain, ...event } = deleted;
      if (isThereAgain) throw invalidState('An import has brought the timeline event again');
      return { ...event, groupId: hasGroup ? event.groupId : null };
    },

    /** Former states of an event, or the deleted events of an incident; the latest first, only those before a number. */
    async list(
      of: { eventId: number } | { incidentId: number },
      { limit, before }: { limit: number; before: number | undefined },
    ): Promise<Listed<FormerTimelineEvent>[]> {
      const states = db('former_timeline_events')
        .where('workspace_id', workspaceId)
        .orderBy('seq', 'desc')
        .limit(limit);
      if ('eventId' in of) void states.where('id', of.eventId);
      else void states.where('incident_id', of.incidentId).whereNotNull('deleted_at');
      if (before !== undefined) void states.where('seq', '<', before);
      return states.select<Listed<FormerTimelineEvent>[]>(db.raw(LISTED));
    },

    /** The listed states with all their properties, a few at a time. */
    readWhole: (listed: readonly Listed<FormerTimelineEvent>[]) =>
      readWhole(listed, async (numbers) =>
        query<FormerTimelineEvent>(db, {
          name: 'find-former-events',
          text: `select ${WHOLE} from former_timeline_events
            where workspace_id = $1 and seq = any((select $2::bigint[])::bigint[])`,
          values: [workspaceId, numbers],
        }),
      ),
  };
}
