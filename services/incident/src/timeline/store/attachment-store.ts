import { column, type ColumnsOf, rowMapping } from '@tocsin/resources';
import { type Knex, type PreparedStatement, runPipeline } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** A file of a timeline event. Another system stores it; this service only reads the record. */
export interface Attachment {
  id: number;
  eventId: number;
  filename: string;
  /** The path in the file store; null if the file is not available. */
  storageKey: string | null;
  contentType: string;
  sizeBytes: number;
  createdAt: Instant;
  createdBy: string;
}

const COLUMNS = {
  id: column('id', 'bigint'),
  eventId: column('timeline_event_id', 'bigint'),
  filename: column('filename', 'text'),
  storageKey: column('storage_key', 'text'),
  contentType: column('content_type', 'text'),
  sizeBytes: column('size_bytes', 'bigint'),
  createdAt: column('created_at', 'timestamptz'),
  createdBy: column('created_by', 'text'),
} as const satisfies ColumnsOf<Attachment>;

const { names, selection } = rowMapping<Attachment, typeof COLUMNS>(COLUMNS);

export const ATTACHMENT_COLUMNS = names.join(', ');

/** Selects the attachments of some events in the order of their creation. */
export const selectAttachments = (eventIds: readonly number[]): PreparedStatement<Attachment> => ({
  name: 'find-attachments',
  text: `
    select ${selection} from timeline_attachments
    where timeline_event_id = any((select $1::bigint[])::bigint[]) order by id`,
  values: [eventIds],
});

/** Returns the attachments of an event in the order of their creation. */
export async function attachmentsOf(db: Knex, eventId: number): Promise<Attachment[]> {
  const [attachments] = await runPipeline(db, [selectAttachments([eventId])]);
  return attachments;
}
