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

const { names, selection, toRow } = rowMapping<Attachment, typeof COLUMNS>(COLUMNS);

export const ATTACHMENT_COLUMNS = names.join(', ');

/** Stores images of monitors, in their order. */
export async function insertAttachments(db: Knex, attachments: readonly Omit<Attachment, 'id'>[]): Promise<void> {
  if (attachments.length > 0) await db('timeline_attachments').insert(attachments.map((each) => toRow(each)));
}

/** Selects the attachments of some events in the order of their creation. */
export const selectAttachments = (eventIds: readonly number[]): Statement<Attachment> => ({
  name: 'find-attachments',
  text: `
    select ${selection} from timeline_attachments
    where timeline_event_id = any((select $1::bigint[])::bigint[]) order by id`,
  values: [eventIds],
});

/** Returns the attachments of an event in the order of their creation. */
export async function attachmentsOf(db: Knex, eventId: number): Promise<Attachment[]> {
  const attachments = await query(db, selectAttachments([eventId]));
  return attachments;
}
