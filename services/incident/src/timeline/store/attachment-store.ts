import { column, type ColumnsOf, rowMapping } from '@tocsin/versioned-resources';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type Picture, pictureUrl } from '../../pictures/domain/picture.ts';
import type { TimelineEvent } from '../domain/timeline-event.ts';

/** A file of a timeline event: a picture, or what another system stores, the file store or a monitor that shows an image. */
export interface Attachment {
  id: number;
  eventId: number;
  filename: string;
  /** The path in the file store; null if the file is not available. */
  storageKey: string | null;
  /** Where it is, if that is not the file store. */
  url: string | null;
  contentType: string;
  /** 0: not known. */
  sizeBytes: number;
  createdAt: Instant;
  createdBy: string;
}

const COLUMNS = {
  id: column('id', 'bigint'),
  eventId: column('timeline_event_id', 'bigint'),
  filename: column('filename', 'text'),
  storageKey: column('storage_key', 'text'),
  url: column('url', 'text'),
  contentType: column('content_type', 'text'),
  sizeBytes: column('size_bytes', 'bigint'),
  createdAt: column('created_at', 'timestamptz'),
  createdBy: column('created_by', 'text'),
} as const satisfies ColumnsOf<Attachment>;

const { names, selection } = rowMapping<Attachment, typeof COLUMNS>(COLUMNS);

export const ATTACHMENT_COLUMNS = names.join(', ');

/** Stores images of monitors, in their order. */
export async function insertAttachments(
  db: Knex,
  workspaceId: number,
  attachments: readonly Omit<Attachment, 'id'>[],
): Promise<void> {
  if (attachments.length === 0) return;
  await query(db, {
    name: 'insert-attachments',
    text: `insert into timeline_attachments
        (workspace_id, timeline_event_id, filename, storage_key, url, content_type, size_bytes, created_at, created_by)
      select $1, event_id, filename, storage_key, url, content_type, size_bytes, created_at, created_by
      from unnest((select $2::bigint[]), (select $3::text[]), (select $4::text[]), (select $5::text[]),
          (select $6::text[]), (select $7::bigint[]), (select $8::timestamptz[]), (select $9::text[]))
        with ordinality as attachment
          (event_id, filename, storage_key, url, content_type, size_bytes, created_at, created_by, place)
      order by place`,
    values: [
      workspaceId,
      attachments.map(({ eventId }) => eventId),
      attachments.map(({ filename }) => filename),
      attachments.map(({ storageKey }) => storageKey),
      attachments.map(({ url }) => url),
      attachments.map(({ contentType }) => contentType),
      attachments.map(({ sizeBytes }) => sizeBytes),
      attachments.map(({ createdAt }) => createdAt),
      attachments.map(({ createdBy }) => createdBy),
    ],
  });
}

/** A picture as an attachment of an event that is about to have it. */
export const attachmentOf = (eventId: number, picture: Picture): Attachment => ({
  ...{ id: picture.id, eventId, filename: picture.filename, storageKey: null, url: pictureUrl(picture.id) },
  ...{ contentType: picture.contentType, sizeBytes: picture.sizeBytes },
  ...{ createdAt: picture.createdAt, createdBy: picture.createdBy },
});

export const isPicture = ({ id, url }: Pick<Attachment, 'id' | 'url'>): boolean => url === pictureUrl(id);

/** Sets which pictures an event has; the transaction must have locked its incident, and the pictures that it gets. */
export const setPictures = (
  workspaceId: number,
  { id, incidentId }: Pick<TimelineEvent, 'id' | 'incidentId'>,
  { attachments, now }: { attachments: readonly Attachment[]; now: Instant },
): Statement => ({
  name: 'set-pictures',
  text: `with released as (
      update pictures set timeline_event_id = null, unused_since = $5
      where workspace_id = $1 and incident_id = $2 and timeline_event_id = $3
        and id <> all((select $4::bigint[])::bigint[]) returning id),
    detached as (delete from timeline_attachments using released
      where timeline_attachments.workspace_id = $1 and timeline_attachments.id = released.id),
    taken as (
      update pictures set timeline_event_id = $3, unused_since = null
      where workspace_id = $1 and incident_id = $2 and timeline_event_id is null
        and id = any((select $4::bigint[])::bigint[])
      returning id, filename, content_type, size_bytes, created_at, created_by)
    insert into timeline_attachments
      (workspace_id, id, timeline_event_id, filename, url, content_type, size_bytes, created_at, created_by)
    select $1, taken.id, $3, filename, url, content_type, size_bytes, created_at, created_by
    from taken join unnest((select $4::bigint[]), (select $6::text[])) as given (id, url) on given.id = taken.id`,
  values: [workspaceId, incidentId, id, attachments.map((each) => each.id), now, attachments.map(({ url }) => url)],
});

/** Selects the attachments of some events in the order of their creation. */
export const selectAttachments = (workspaceId: number, eventIds: readonly number[]): Statement<Attachment> => ({
  name: 'find-attachments',
  text: `
    select ${selection} from timeline_attachments
    where workspace_id = $1 and timeline_event_id = any((select $2::bigint[])::bigint[]) order by id`,
  values: [workspaceId, eventIds],
});

/** Returns the attachments of an event in the order of their creation. */
export async function attachmentsOf(db: Knex, workspaceId: number, eventId: number): Promise<Attachment[]> {
  const attachments = await query(db, selectAttachments(workspaceId, [eventId]));
  return attachments;
}
