import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { announcedBefore, deletionTime, type Retention } from './domain/retention.ts';
import { countArchivedBefore } from './store/retention-store.ts';

/** The archived incidents that are deleted in the next 30 days. */
export interface Announced {
  /** At most `MAX_ANNOUNCED` are counted. */
  count: number;
  /** When the first one is deleted; null: none is. */
  firstAt: Instant | null;
}

export const MAX_ANNOUNCED = 10_000;

/** Counts what the retention of a workspace will delete, of what the request may see. */
export async function countAnnounced(
  db: Knex,
  { workspaceId, retention, now }: { workspaceId: number; retention: Retention; now: Instant },
): Promise<Announced> {
  const before = announcedBefore(retention, now);
  if (before === undefined) return { count: 0, firstAt: null };
  const { count, first } = await countArchivedBefore(db, { workspaceId, before, limit: MAX_ANNOUNCED });
  return { count, firstAt: first === null ? null : (deletionTime(retention, 'archived_incidents', first) ?? null) };
}
