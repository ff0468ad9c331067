import type { Instant, Knex } from '@tocsin/runtime';

/** A file that belongs to a timeline event; kept elsewhere, and read-only here. */
export interface Attachment {
  id: number;
  eventId: number;
  filename: string;
  /** Its path in the store of files; null when it is not to be had. */
  storageKey: string | null;
  contentType: string;
  sizeBytes: number;
  createdAt: Instant;
  createdBy: string;
}

interface AttachmentRow {
  id: number;
  timeline_event_id: number;
  filename: string;
  storage_key: string | null;
  content_type: string;
  size_bytes: number;
  created_at: Instant;
  created_by: string;
}

/** The attachments of some events, in the order of their making. */
export async function attachmentsOf(db: Knex, eventIds: readonly number[]): Promise<Attachment[]> {
  if (eventIds.length === 0) return [];
  const rows = await db('timeline_attachments')
    .whereIn('timeline_event_id', eventIds)
    .orderBy('id')
    .select<AttachmentRow[]>(
      'id',
      'timeline_event_id',
      'filename',
      'storage_key',
      'content_type',
      'size_bytes',
      'created_at',
      'created_by',
    );
  return rows.map((row) => ({
    id: row.id,
    eventId: row.timeline_event_id,
    filename: row.filename,
    storageKey: row.storage_key,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    createdAt: row.created_at,
    createdBy: row.created_by,
  }));
}
