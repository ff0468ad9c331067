/** A row with lighter large columns is listed with them. */
const LISTED_WEIGHT = 8_192;
/** Whole rows are read together up to this weight. */
const PORTION_WEIGHT = 1_048_576;

/**
 * What a value weighs: about its bytes when it is read. A compressed one is longer by an unknown factor, of several
 * hundred at most and usually below sixteen.
 */
export const WEIGHTS = {
  text: (column: string) => `octet_length(${column})::bigint`,
  jsonb: (column: string) =>
    `pg_column_size(${column})::bigint * case when pg_column_compression(${column}) is null then 1 else 16 end`,
} as const;

/** A row as a list reads it first: with a `largeWeight`, it lacks its large columns. */
export type Listed<Row> = Row & { readonly largeWeight: number | null };

/**
 * The select list of a list: all columns, but of those that may be large only null in a row where one of them is, and
 * then their weight as `large_weight`. Postgres looks at the sizes without reading the values.
 */
export function listedColumns<Name extends string>(options: {
  table: string;
  names: readonly Name[];
  large: Readonly<Partial<Record<Name, keyof typeof WEIGHTS>>>;
  /** The columns' names in the rows, if they have others there. Then the weight is `largeWeight`. */
  as?: ReadonlyMap<string, string>;
}): string {
  const { table, names, large, as } = options;
  const named = (name: string) => (as === undefined ? name : `"${as.get(name) ?? name}"`);
  const weights = Object.entries<keyof typeof WEIGHTS | undefined>(large).flatMap(([name, type]) =>
    type === undefined ? [] : [`coalesce(${WEIGHTS[type](`${table}.${name}`)}, 0)`],
  );
  const weight = weights.join(' + ');
  const columns = names.map((name) =>
    large[name] === undefined
      ? `${table}.${name} as ${named(name)}`
      : `case when ${weight} <= ${LISTED_WEIGHT} then ${table}.${name} end as ${named(name)}`,
  );
  const weightName = as === undefined ? 'large_weight' : '"largeWeight"';
  return [...columns, `case when ${weight} > ${LISTED_WEIGHT} then ${weight} end as ${weightName}`].join(', ');
}

/** A row of these columns. */
export type ListedRow<Row> = Row & { large_weight: number | null };

/**
 * Reads the rows of a list completely, in their order: the large ones by their IDs, a few at a time. So a page that
 * ends early reads hardly more than it shows. Undefined stands for a row that is gone.
 */
export const readWhole = <Row extends { id: number }>(
  listed: readonly Listed<Row>[],
  read: (ids: number[]) => Promise<Row[]>,
): Iterable<Row | undefined> | AsyncIterable<Row | undefined> =>
  listed.every(({ largeWeight }) => largeWeight === null) ? listed : readInPortions(listed, read);

async function* readInPortions<Row extends { id: number }>(
  listed: readonly Listed<Row>[],
  read: (ids: number[]) => Promise<Row[]>,
): AsyncGenerator<Row | undefined> {
  for (const portion of portionsOf(listed, ({ largeWeight }) => largeWeight ?? 0)) {
    const ids = portion.filter(({ largeWeight }) => largeWeight !== null).map(({ id }) => id);
    const rows = new Map(ids.length === 0 ? [] : (await read(ids)).map((row) => [row.id, row]));
    for (const row of portion) {
      yield row.largeWeight === null ? row : rows.get(row.id);
      rows.delete(row.id);
    }
  }
}

/** Divides rows into runs that are light enough to be read together. A heavier row is alone. */
export function* portionsOf<Row>(rows: readonly Row[], weightOf: (row: Row) => number): Generator<Row[]> {
  let portion: Row[] = [];
  let weight = 0;
  for (const row of rows) {
    if (portion.length > 0 && weight + weightOf(row) > PORTION_WEIGHT) {
      yield portion;
      portion = [];
      weight = 0;
    }
    portion.push(row);
    weight += weightOf(row);
  }
  if (portion.length > 0) yield portion;
}
