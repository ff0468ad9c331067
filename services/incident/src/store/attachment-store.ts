import { column, type ColumnsOf, type RowOf, rowMapping } from '@tocsin/resources';
import type { Instant, Knex } from '@tocsin/runtime';

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

const mapping = rowMapping<Attachment, typeof COLUMNS>(COLUMNS);

/** Returns the attachments of some events in the order of their creation. */
export async function attachmentsOf(db: Knex, eventIds: readonly number[]): Promise<Attachment[]> {
  if (eventIds.length === 0) return [];
  const rows = await db('timeline_attachments')
    .whereIn('timeline_event_id', eventIds)
    .orderBy('id')
    .select<RowOf<Attachment, typeof COLUMNS>[]>(mapping.names);
  return rows.map(mapping.toEntity);
}
