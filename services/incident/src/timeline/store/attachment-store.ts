import { column, type ColumnsOf, rowMapping } from '@tocsin/versioned-resources';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** A file of a timeline event, which another system stores: the file store, or a monitor that shows an image. */
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
