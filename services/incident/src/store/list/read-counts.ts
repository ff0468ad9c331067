import type { Knex } from '@tocsin/runtime';
import { customConditions } from './custom-filters.ts';
import { filterConditions, statusConditions } from './filters.ts';
import { type PrefilteredQuery, prefilterByText } from './prefilter.ts';
import { all, run, sql } from './sql.ts';

/**
 * Counts the incidents of a list, whatever the page.
 * @param prefiltered by `prefilterByRevenue`
 * @returns how many incidents the workspace's history limit hides and, if requested, how many incidents of each
 *   status the list has without its filters by status
 */
export async function readCounts(
  db: Knex,
  prefiltered: PrefilteredQuery,
  { includeStatuses }: { includeStatuses: boolean },
): Promise<{ restricted: number; byStatus: Map<string, number> | undefined }> {
  const isLimited = prefiltered.query.visibleFrom !== null;
  if (!isLimited && !includeStatuses) return { restricted: 0, byStatus: undefined };
  const counted = await prefilterByText(db, prefiltered);
  const [restricted, byStatus] = await Promise.all([
    isLimited ? countRestricted(db, counted) : 0,
    includeStatuses ? countByStatus(db, counted) : undefined,
  ]);
  return { restricted, byStatus };
}

async function countByStatus(db: Knex, { query, conditions }: PrefilteredQuery): Promise<Map<string, number>> {
  const filters = [...filterConditions(query, 'shown'), ...customConditions(query)];
  const rows = await run<{ status: string; incidents: number }>(
    db,
    sql`select i.status, count(*) as incidents from incidents as i
        where ${all([...filters, ...conditions])} group by i.status`,
  );
  return new Map(rows.map(({ status, incidents }) => [status, incidents]));
}

async function countRestricted(db: Knex, { query, conditions }: PrefilteredQuery): Promise<number> {
  const filters = [...filterConditions(query, 'restricted'), ...customConditions(query), ...statusConditions(query)];
  const [row] = await run<{ incidents: number }>(
    db,
    sql`select count(*) as incidents from incidents as i
        where ${all([...filters, ...conditions])}`,
  );
  return row?.incidents ?? 0;
}
