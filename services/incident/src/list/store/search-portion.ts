import type { Knex } from '@tocsin/postgres';
import { COLUMNS, positionColumns, type PositionedRow } from './positioned-rows.ts';
import type { SegmentRequest, SortSegment } from './segments.ts';
import { all, join, run, type Sql, sql } from '../../shared/store/sql.ts';

/** A page of a list ends after it has compared so many bytes of text with searched ones: a quarter of a second at worst. */
export const MAX_COMPARED_BYTES = 8 * 1_024 * 1_024;

/** How many incidents one statement searches. */
const PORTION = 1_000;

/** What an incident counts in addition to its texts, in bytes: finding it takes about as long as comparing so many. */
const COST_OF_INCIDENT = 256;

export interface PortionRequest extends SegmentRequest {
  segment: SortSegment;
  /** The conditions on incidents `i` that compare texts, each by looking up the value of the incident at hand. */
  searches: readonly Sql[];
  /** The bytes of the texts of `incident` that are compared. */
  sizes: readonly Sql[];
  /** The portion ends with the incident whose texts reach this number of bytes. */
  comparable: number;
}

export interface Portion {
  /** Up to `limit` incidents that meet all conditions. */
  rows: PositionedRow[];
  /** The last incident that was searched, whether it meets the conditions or not. */
  last: PositionedRow | undefined;
  /** Whether all incidents of the segment were searched. */
  isEnd: boolean;
  /** How many bytes were compared. */
  compared: number;
}

/**
 * Searches the next incidents of a segment in the order of the list. Stops when enough are found. The sizes of large texts
 * can be told without reading the texts.
 */
export async function searchPortion(db: Knex, request: PortionRequest): Promise<Portion> {
  const { segment, limit, searches, comparable } = request;
  const position = positionColumns(segment);
  const found = await run<PositionedRow & { is_match: boolean; place: number; compared: number; is_last: boolean }>(
    db,
    sql`
      select ${COLUMNS}, ${position}, is_match, is_last, place, compared
      from (
        select i.id, ${position}, place, compared, compared >= ${comparable} or is_final as is_last,
          ${all(searches)} as is_match
        from (${withSizes(request)}) as i
        where compared - cost < ${comparable}) as page
      join incidents as i on i.id = page.id
      where is_match or is_last
      order by ${segment.order}
      limit ${limit}`,
  );
  const rows = found.filter(({ is_match }) => is_match);
  const last = found.at(-1);
  const isEnd = last === undefined || (last.is_last && last.place < PORTION && last.compared < comparable);
  return { rows, last, isEnd, compared: last?.compared ?? 0 };
}

/** The incidents of a portion, their number in its order, and the bytes of their texts up to them. */
function withSizes({ segment, conditions, after, sizes }: PortionRequest): Sql {
  const position = positionColumns(segment);
  return sql`
    select id, ${position}, cost,
      row_number() over (order by ${segment.order}) as place,
      (sum(cost) over (order by ${segment.order} rows unbounded preceding))::bigint as compared,
      lead(id) over (order by ${segment.order}) is null as is_final
    from (
      select incident.id, ${position}, ${COST_OF_INCIDENT} + ${join(sizes, ' + ')} as cost
      from (${segment.statement({ conditions, after, limit: PORTION })}) as incident) as sized`;
}
