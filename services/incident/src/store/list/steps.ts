import type { Direction } from '../../domain/list-sort.ts';
import { all, join, type Sql, sql } from './sql.ts';

/** A value that an order goes by, as it travels in cursors. */
export type Key = string | number | boolean;

/** A place in a step's order: the values it goes by, and the tie. */
export interface Place {
  keys: readonly Key[];
  tie: number;
}

export interface StepRequest {
  conditions: readonly Sql[];
  after: Place | undefined;
  limit: number;
}

/**
 * A stretch of a sort's order that one statement reads from an index. A sort is one or more of them after each other:
 * incidents with a value, say, and then those without.
 */
export interface Step {
  /** How many keys a place has here. */
  keys: number;
  /**
   * Up to `limit` incidents `i` that meet the conditions, after a place: rows of `id`, `tie`, and `key_0` and `key_1` where
   * there are such keys.
   */
  statement(request: StepRequest): Sql;
  /** The same with more columns of incidents `i`; not where these would be read for incidents that are left out again. */
  withColumns?(request: StepRequest, columns: Sql): Sql;
  /** What those rows are in the order of. */
  order: Sql;
  /** The keys of a place, from the columns of its row. */
  keysOf(columns: readonly Key[]): readonly Key[];
}

export const directed = (direction: Direction): Sql => (direction === 'asc' ? sql`asc` : sql`desc`);
export const beyond = (direction: Direction): Sql => (direction === 'asc' ? sql`>` : sql`<`);

/** Where incidents `i` come from: the values of a custom field, where these set the order. */
export interface Source {
  from?: Sql;
  /** What keeps the step to its stretch. */
  where?: readonly Sql[];
  /** Breaks ties, in the order of the incidents' IDs. */
  tie?: Sql;
}

export const orderBy = (columns: readonly Sql[], direction: Direction): Sql =>
  join(
    columns.map((column) => sql`${column} ${directed(direction)}`),
    ', ',
  );

/** Whether a row, as far as an order goes by it, comes after a place in it. */
export const after = (direction: Direction, row: readonly Sql[], { keys, tie }: Place): Sql =>
  sql`(${join(row, ', ')}) ${beyond(direction)} (${join(
    [...keys, tie].map((value) => sql`${value}`),
    ', ',
  )})`;

const KEY_NAMES = [sql`key_0`, sql`key_1`];

/** In the order of at most two expressions, none of them null here, and of the tie. */
export function ordered(direction: Direction, keys: readonly Sql[], source: Source = {}): Step {
  const { from = sql`incidents as i`, where = [], tie = sql`i.id` } = source;
  const named = KEY_NAMES.slice(0, keys.length).map((name, index) => ({ name, key: keys[index] ?? name }));
  const select = (columns: Sql, { conditions, after: place, limit }: StepRequest) => sql`
    select ${join([columns, sql`${tie} as tie`, ...named.map(({ name, key }) => sql`${key} as ${name}`)], ', ')}
    from ${from}
    where ${all([...conditions, ...where, ...(place === undefined ? [] : [after(direction, [...keys, tie], place)])])}
    order by ${orderBy([...keys, tie], direction)}
    limit ${limit}`;
  return {
    keys: keys.length,
    order: orderBy([...named.map(({ name }) => name), sql`tie`], direction),
    statement: (request) => select(sql`i.id`, request),
    withColumns: (request, columns) => select(columns, request),
    keysOf: (columns) => columns,
  };
}
