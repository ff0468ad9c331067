import { foldedKey } from '@tocsin/schemas';
import type { Key, KeyType, SortSegment as CursorSegment } from '@tocsin/http';
import type { Listed } from '@tocsin/versioned-resources';
import type { Direction } from '../domain/list-sort.ts';
import { all, join, Sql, sql } from '../../shared/store/sql.ts';
import {
  HAS_NUMBER,
  INCIDENT_TABLE,
  INCIDENT_VERSION_COLUMNS,
  type IncidentVersion,
  LIST_COLUMNS,
  READ_VERSION_COLUMNS,
} from '../../incidents/store/incident-row.ts';

/** The position of a row in a list: the name of its sort segment, its sort keys there, and the tie-breaker. */
export interface KeysetPosition {
  segment: string;
  keys: readonly Key[];
  tie: number;
}

export interface SegmentRequest {
  conditions: readonly Sql[];
  /** If given, only these incidents are read. */
  ids?: readonly string[] | undefined;
  /** A position in this segment; undefined: from the segment's beginning. */
  after: KeysetPosition | undefined;
  limit: number;
}

/**
 * A part of a sort order that one statement reads from an index. A sort consists of one segment or of several in a row:
 * the incidents with a value, for example, and then those without one. Cursors name the segment and hold its `keys`.
 */
export interface SortSegment extends CursorSegment {
  /**
   * Selects up to `limit` incidents `i` that meet the conditions, after a position: rows of `id` and `tie`, and `key_0`
   * and `key_1` if the segment has so many keys.
   */
  statement(request: SegmentRequest): Sql;
  /**
   * Selects the same rows with these columns of incidents `i` instead of `id`. For lists whose conditions reject
   * hardly any row: otherwise the wide rows of rejected incidents would be read in vain.
   */
  withColumns?(request: SegmentRequest, columns: Sql): Sql;
  /**
   * For a segment whose statement would take long to build or to run: its parts in the order of the list, from the one
   * with the position on, each of which is read instead. They have the segment's name, keys and order.
   */
  partsFrom?(after: KeysetPosition | undefined): Iterable<SortSegment>;
  /** The `order by` of these rows. */
  order: Sql;
  /** The keys of a position, from the key columns of a row. */
  keysOf(columns: readonly Key[]): readonly Key[];
}

const ofIncident = (names: readonly string[]) => new Sql(names.map((name) => `own.${name}`).join(', '), []);

/** All that conditions, sorts and views of lists read of an incident. */
const READ_COLUMNS = ofIncident(
  ['xmin', ...Object.values(INCIDENT_TABLE).map(({ name }) => name), ...LIST_COLUMNS].concat(
    'owner_folded',
    'diagnosis',
    'affected_customers',
    'mrr',
  ),
);

const VERSION_COLUMNS = ofIncident(READ_VERSION_COLUMNS);

const lookedUp = (columns: Sql, workspaceId: number, id: Sql): Sql => sql`lateral (
  select ${columns} from incidents as own where own.workspace_id = ${workspaceId} and own.id = ${id} offset 0) as i`;

/**
 * The incident `i` of a workspace with an ID of a table before it in `from`. Postgres can only look it up by its primary key, whatever its
 * statistics say, because `offset 0` keeps all other conditions out.
 */
export const incidentOf = (workspaceId: number, id: Sql): Sql => lookedUp(READ_COLUMNS, workspaceId, id);

/** The same with what `COLUMNS` reads alone: each column costs planning, and such a statement is planned for each list. */
export const versionOf = (workspaceId: number, id: Sql): Sql => lookedUp(VERSION_COLUMNS, workspaceId, id);

/** Where the incidents `i` of a segment come from. Defaults: the table itself, all of it, ties by ID. */
export interface RowSource {
  from?: Sql;
  /** The ID of the incident in the table that is read in order. */
  id?: Sql;
  /** Selects the rows of the segment. */
  where?: readonly Sql[];
  /** Breaks ties, in the order of the incidents' IDs. */
  tie?: Sql;
}

/** An expression to sort by. It is never null within its segment. */
export interface SortKey {
  type: KeyType;
  value: Sql;
}

interface KeysetOptions extends RowSource {
  name: string;
  direction: Direction;
  /** At most two. */
  sortKeys: readonly SortKey[];
}

const KEY_COLUMNS = [sql`key_0`, sql`key_1`];

/** A range of an index, read in its order and continued by comparing rows with the position. */
export function keysetSegment({
  name: segment,
  direction,
  sortKeys,
  from = sql`incidents as i`,
  id = sql`i.id`,
  where = [],
  tie = sql`i.id`,
}: KeysetOptions): SortSegment {
  const keys = sortKeys.map(({ value }) => value);
  const keyColumns = KEY_COLUMNS.slice(0, keys.length).map((name, index) => ({ name, key: keys[index] ?? name }));
  const select = (columns: Sql, { conditions, ids, after, limit }: SegmentRequest) => sql`
    select ${join([columns, sql`${tie} as tie`, ...keyColumns.map(({ name, key }) => sql`${key} as ${name}`)], ', ')}
    from ${from}
    where ${all([...conditions, ...isOneOf(id, ids), ...where, ...(after === undefined ? [] : [isAfter(after, [...keys, tie], direction)])])}
    order by ${orderBy([...keys, tie], direction)}
    limit ${limit}`;
  return {
    name: segment,
    keys: sortKeys.map(({ type }) => type),
    order: orderBy([...keyColumns.map(({ name }) => name), sql`tie`], direction),
    statement: (request) => select(sql`i.id`, request),
    withColumns: (request, columns) => select(columns, request),
    keysOf: (columns) => columns,
  };
}

/** Incidents in the order of their numbers. */
export const numberSegment = ({
  where = [],
  ...options
}: Pick<KeysetOptions, 'name' | 'direction' | 'where'>): SortSegment =>
  keysetSegment({ ...options, sortKeys: [], where: [new Sql(`i.${HAS_NUMBER}`, []), ...where], tie: sql`i.number` });

/** A value by which the incidents of a sort key are found. */
interface LookupValue {
  key: string;
  value: string | number;
}

/** One way to find the incidents of the sort keys. */
interface KeyLookup extends RowSource {
  type: 'text' | 'bigint';
  values: readonly LookupValue[];
  /** The condition on incidents `i`; the value is `probe.value`, and folded it is `probe.folded`. */
  match: Sql;
}

interface KeyLookupOptions {
  name: string;
  direction: Direction;
  /** In the order of the list. */
  keys: readonly string[];
  lookups: readonly KeyLookup[];
}

const ARRAY_TYPES = { text: sql`text[]`, bigint: sql`bigint[]` } as const;

/** Comes before every tie in ascending order, or after it in descending order. */
const OUTER_TIE = { asc: '0', desc: '9223372036854775807' } as const;

/**
 * Sorts by a few keys whose order only we know: statuses in workflow order, for example. Each key is looked up in an
 * index, for up to one page of incidents.
 */
export function keyLookupSegment({ name, direction, keys, lookups }: KeyLookupOptions): SortSegment {
  const rankOf = new Map(keys.map((key, rank) => [key, rank]));
  return {
    name,
    keys: ['text'],
    order: sql`key_0, tie ${directionOf(direction)}`,
    statement({ conditions, ids, after, limit }) {
      // If the position's key has been removed since, the segment starts again: repeating incidents is better than
      // skipping some.
      const start = rankOf.get(String(after?.keys[0]));
      const boundOf = (rank: number) =>
        rank === start && after !== undefined ? String(after.tie) : OUTER_TIE[direction];
      const hits = lookups.map(
        ({ type, values, match, from = sql`incidents as i`, id = sql`i.id`, where = [], tie = sql`i.id` }) => {
          const rows = values
            .map(({ key, value }) => ({ rank: rankOf.get(key) ?? -1, value }))
            .filter(({ rank }) => rank >= (start ?? 0));
          return sql`
          select hit.id, hit.tie, probe.place as key_0
          from unnest(${rows.map(({ rank }) => rank)}::integer[],
                      ${rows.map(({ rank }) => boundOf(rank))}::bigint[],
                      ${rows.map(({ value }) => value)}::${ARRAY_TYPES[type]},
                      ${rows.map(({ value }) => foldedKey(String(value)))}::text[]) as probe(place, bound, value, folded)
          cross join lateral (
            select i.id, ${tie} as tie from ${from}
            where ${all([...conditions, ...isOneOf(id, ids), ...where, match, sql`${tie} ${follows(direction)} probe.bound`])}
            order by ${tie} ${directionOf(direction)}
            limit ${limit}) as hit`;
        },
      );
      return sql`
        select id, tie, key_0 from (${join(hits, ' union all ')}) as hits
        order by key_0, tie ${directionOf(direction)}
        limit ${limit}`;
    },
    keysOf: ([rank]) => [keys[Number(rank)] ?? ''],
  };
}

/** How many keys the first part of a segment has. Each part has twice as many as the one before it. */
const FIRST_PART = 50;
const MAX_PART = 500;

/**
 * Sorts by many keys, in parts: a key may have a page of incidents or none, and the first few usually fill the page.
 * @param options.lookUp makes a segment of some of the keys
 * @param options.indexFrom the index of the key with which the list continues after a position
 */
export function manyKeysSegment(options: {
  keys: readonly string[];
  lookUp: (keys: readonly string[]) => SortSegment;
  indexFrom: (key: string) => number;
}): SortSegment {
  const { keys, lookUp, indexFrom } = options;
  return {
    ...lookUp([]),
    *partsFrom(after) {
      let size = FIRST_PART;
      for (let start = after === undefined ? 0 : indexFrom(String(after.keys[0])); start < keys.length; start += size) {
        if (start > 0) size = Math.min(2 * size, MAX_PART);
        yield lookUp(keys.slice(start, start + size));
      }
    },
  };
}

/** No condition unless IDs are given. */
export const isOneOf = (id: Sql, ids: readonly string[] | undefined): Sql[] =>
  ids === undefined ? [] : [sql`${id} = any(${ids})`];

const directionOf = (direction: Direction): Sql => (direction === 'asc' ? sql`asc` : sql`desc`);
const follows = (direction: Direction): Sql => (direction === 'asc' ? sql`>` : sql`<`);

export const orderBy = (columns: readonly Sql[], direction: Direction): Sql =>
  join(
    columns.map((column) => sql`${column} ${directionOf(direction)}`),
    ', ',
  );

/** Whether a row, given by its sort keys and its tie-breaker, comes after a position. */
export const isAfter = ({ keys, tie }: KeysetPosition, row: readonly Sql[], direction: Direction): Sql =>
  sql`(${join(row, ', ')}) ${follows(direction)} (${join(
    [...keys, tie].map((value) => sql`${value}`),
    ', ',
  )})`;

/** The position of an incident in a segment, as columns. */
interface PositionColumns {
  tie: number;
  key_0?: Key;
  key_1?: Key;
}

export type PositionedRow = Listed<IncidentVersion> & PositionColumns;

/** The columns of incidents `i`. */
export const COLUMNS = new Sql(INCIDENT_VERSION_COLUMNS, []);

const POSITION_COLUMNS = [sql`tie`, sql`tie, key_0`, sql`tie, key_0, key_1`];

export const positionColumns = ({ keys }: SortSegment): Sql => POSITION_COLUMNS[keys.length] ?? sql`tie`;

export function positionOf({ tie, key_0, key_1 }: PositionColumns, segment: SortSegment): KeysetPosition {
  const columns = [key_0, key_1].slice(0, segment.keys.length) as Key[];
  return { segment: segment.name, keys: segment.keysOf(columns), tie };
}
