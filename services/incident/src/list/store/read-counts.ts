import { invalidRequest } from '@tocsin/http';
import { type Knex, query } from '@tocsin/postgres';
import { statusConditions } from './filters.ts';
import { isComparable, matching } from './matching.ts';
import { type PrefilteredQuery, prefilterByValues } from './prefilter.ts';
import { sql, statementOf } from '../../shared/store/sql.ts';

const STATUS = { status: sql`i.status` };

/** The counts of a list, whatever the page. */
export interface ListCounts {
  /** How many incidents the workspace's history limit hides; undefined if too much text would have to be compared. */
  restricted: number | undefined;
  /** If requested, how many incidents of each status the list has without its filters by status. */
  byStatus: Map<string, number> | undefined;
}

/**
 * Counts the incidents of a list.
 * @param prefiltered by `prefilterByRevenue`
 * @throws DomainError `invalid_request` if statuses are requested and too much text would have to be compared
 */
export async function readCounts(
  db: Knex,
  prefiltered: PrefilteredQuery,
  { includeStatuses }: { includeStatuses: boolean },
): Promise<ListCounts> {
  const isLimited = prefiltered.query.visibleFrom !== null;
  if (!isLimited && !includeStatuses) return { restricted: 0, byStatus: undefined };
  const counted = await prefilterByValues(db, prefiltered);
  if (!(await isComparable(db, counted))) {
    if (!includeStatuses) return { restricted: undefined, byStatus: undefined };
    throw invalidRequest(
      'include_counts',
      'Must be false, or other filters must select fewer incidents, or custom_filter must have longer texts: more than 32 MiB of text would have to be compared',
    );
  }
  const [restricted, byStatus] = await Promise.all([
    isLimited ? countRestricted(db, counted) : 0,
    includeStatuses ? countByStatus(db, counted) : undefined,
  ]);
  return { restricted, byStatus };
}

async function countByStatus(db: Knex, counted: PrefilteredQuery): Promise<Map<string, number>> {
  const rows = await query<{ status: string; incidents: number }>(
    db,
    statementOf(
      sql`select status, count(*) as incidents from (${matching(counted, { columns: STATUS })}) as counted group by status`,
    ),
  );
  return new Map(rows.map(({ status, incidents }) => [status, incidents]));
}

async function countRestricted(db: Knex, counted: PrefilteredQuery): Promise<number> {
  const restricted = matching(counted, {
    columns: STATUS,
    visibility: 'restricted',
    conditions: statusConditions(counted.query),
  });
  const [row] = await query<{ incidents: number }>(
    db,
    statementOf(sql`select count(*) as incidents from (${restricted}) as counted`),
  );
  return row?.incidents ?? 0;
}
