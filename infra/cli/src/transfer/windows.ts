/** A part of a list that is read by offsets. */
interface Page<Row> {
  rows: readonly Row[];
  more: boolean;
  /** Of the whole window, if the source says so. */
  total?: number | undefined;
}

export interface WindowOptions<Row> {
  /** Milliseconds since the epoch; rows of a window are those of its list between the two. */
  since: number;
  until: number;
  /** Rows of a page, and offset and rows at most. */
  limit: number;
  reach: number;
  idOf(row: Row): string;
  load(place: { since: number; until: number; offset: number; attempt: number }): Promise<Page<Row>>;
}

/** Reads of a window that changes meanwhile. */
const MAX_ATTEMPTS = 5;
const SHORTEST = 1_000;

/**
 * Reads all rows of a list that shows only the first ones of a window: halves a window that has more. Pages overlap by a
 * row, so that a page that has moved under the reader is noticed, and the window is read again. A row may come twice, from
 * two windows.
 */
export async function* readWindow<Row>(options: WindowOptions<Row>): AsyncGenerator<Row> {
  const { since, until } = options;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const rows = await readPages(options, attempt);
    if (rows === 'too many') {
      if (until - since <= SHORTEST) throw new Error(`too many entries between ${iso(since)} and ${iso(until)}`);
      const middle = Math.floor((since + until) / 2);
      yield* readWindow({ ...options, until: middle });
      yield* readWindow({ ...options, since: middle });
      return;
    }
    if (rows === 'changed') continue;
    yield* rows;
    return;
  }
  throw new Error(`the list between ${iso(since)} and ${iso(until)} changes faster than it can be read`);
}

async function readPages<Row>(
  { since, until, limit, reach, idOf, load }: WindowOptions<Row>,
  attempt: number,
): Promise<Row[] | 'too many' | 'changed'> {
  const all: Row[] = [];
  for (let offset = 0; offset + limit <= reach; offset += limit - 1) {
    const { rows, more, total = 0 } = await load({ since, until, offset, attempt });
    if (total > reach) return 'too many';
    const [first] = rows;
    const last = all.at(-1);
    if (last !== undefined && (first === undefined || idOf(first) !== idOf(last))) return 'changed';
    for (const row of all.length === 0 ? rows : rows.slice(1)) all.push(row);
    if (!more) return all;
  }
  return 'too many';
}

export const iso = (time: number) => new Date(time).toISOString();

/** Reads a list whose pages name the next one. @param load of the cursor; undefined for the first page */
export async function* readChain<Row>(
  load: (cursor: string | undefined, page: number) => Promise<{ rows: readonly Row[]; next: string | undefined }>,
): AsyncGenerator<Row> {
  let cursor: string | undefined;
  const seen = new Set<string>();
  for (let page = 0; ; page += 1) {
    const { rows, next } = await load(cursor, page);
    yield* rows;
    if (next === undefined || rows.length === 0) return;
    if (seen.has(next)) throw new Error(`the page ${next} names itself as a later one`);
    seen.add(next);
    cursor = next;
  }
}
