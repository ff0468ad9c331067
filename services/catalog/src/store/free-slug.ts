import type { Knex } from '@tocsin/runtime';
import { alternative } from '../domain/slug.ts';

const BATCH = 100;

/**
 * The first of `slug`, `slug_2`, `slug_3` and so on that no row of the table has, archived ones included. Nobody else takes it
 * meanwhile: the caller holds the lock of the workspace's version, as everybody does who inserts.
 */
export async function freeSlug(
  trx: Knex.Transaction,
  { table, workspaceId, slug }: { table: 'services' | 'teams'; workspaceId: number; slug: string },
): Promise<string> {
  for (let first = 1; ; first += BATCH) {
    const choices = Array.from({ length: BATCH }, (_, index) => alternative(slug, first + index));
    const rows = await trx(table)
      .where({ workspace_id: workspaceId })
      .whereIn('slug', choices)
      .select<{ slug: string }[]>('slug');
    const taken = new Set(rows.map((row) => row.slug));
    const free = choices.find((choice) => !taken.has(choice));
    if (free !== undefined) return free;
  }
}
