import type { Knex } from 'knex';
import { query } from './database.ts';

/** Limits of one page of changes. A row that is larger than `bytes` is a page of its own. */
export interface PageLimits {
  rows: number;
  /** Bytes of the rows' texts, which is about what they take as JSON. */
  bytes: number;
}

const CHANGE_PAGE_LIMITS: PageLimits = { rows: 2_000, bytes: 1_048_576 };

/** Where a replica continues: it has all changes up to the version `since`, and every row up to the position `after`. */
export interface ChangesFrom {
  workspaceId: number;
  since: number;
  /** `next` of the previous page: `<version>.<source>.<ID>`. */
  after?: string | undefined;
}

/** A table with the columns `id`, `workspace_id` and `version` (the workspace's version at the row's last change). */
export interface ChangeSource<Change extends object> {
  table: string;
  /** Reads rows by their IDs, in any order. */
  read: (ids: readonly number[]) => Promise<{ id: number; change: Change }[]>;
}

export interface ChangePage<Change extends object> {
  /** With this page, a replica has all changes up to this version. */
  version: number;
  /** The position of the next page; null if this is the last one. */
  next: string | null;
  changes: ({ version: number } & Change)[];
}

/** The order of changes: by version, then by source, then by ID. Rows that were written at once share a version. */
interface Position {
  version: number;
  source: number;
  id: number;
}

interface ChangedRow extends Position {
  bytes: number;
}

const toText = ({ version, source, id }: Position): string => `${version}.${source}.${id}`;

const fromText = (text: string): Position => {
  const [version = 0, source = 0, id = 0] = text.split('.').map(Number);
  return { version, source, id };
};

const compare = (a: Position, b: Position): number => a.version - b.version || a.source - b.source || a.id - b.id;

/** After every row of a version. */
const endOf = (version: number): Position => ({ version, source: 9, id: Number.MAX_SAFE_INTEGER });

/**
 * Reads one page of a workspace's changes, oldest first. Follow `next` until it is null: then the replica has the version of
 * the last page. A row that changes in between is returned by the next pull, with its later version.
 * @param options.current reads the workspace's version
 */
export async function readChangePage<Change extends object>(
  db: Knex,
  options: {
    from: ChangesFrom;
    current: () => Promise<number>;
    sources: readonly ChangeSource<Change>[];
    limits?: PageLimits;
  },
): Promise<ChangePage<Change>> {
  const { from, current, sources, limits = CHANGE_PAGE_LIMITS } = options;
  // The version before the rows, and no rows beyond it: the sources are read one after the other, and a position must not
  // pass a row that another source did not show yet.
  const version = await current();
  const positions = [endOf(from.since), ...(from.after === undefined ? [] : [fromText(from.after)])];
  const start = positions.sort(compare).at(-1) ?? endOf(from.since);
  const rowsOfSources = await Promise.all(
    sources.map(async ({ table }, source) =>
      findChanged(db, { table, source, workspaceId: from.workspaceId, start, version, limits }),
    ),
  );
  const { rows, isLast } = cut(rowsOfSources, limits);
  const changes = await readChanges(rows, sources);
  const last = rows.at(-1);
  if (isLast || last === undefined) return { version, next: null, changes };
  // More rows may have the last row's version.
  return { version: Math.max(from.since, last.version - 1), next: toText(last), changes };
}

/**
 * Finds the rows after a position until their texts reach the limit. It goes from row to row along the index, so that it
 * reads no text beyond the limit.
 */
async function findChanged(
  db: Knex,
  options: {
    table: string;
    source: number;
    workspaceId: number;
    start: Position;
    /** The last version to return. */
    version: number;
    limits: PageLimits;
  },
): Promise<ChangedRow[]> {
  const { table, source, workspaceId, start, version: until, limits } = options;
  const afterId = source < start.source ? Number.MAX_SAFE_INTEGER : source === start.source ? start.id : 0;
  const next = (version: string, id: string) => `
    select t.id, t.version, octet_length(t::text) as bytes from ${table} as t
    where t.workspace_id = $1 and (t.version, t.id) > (${version}, ${id}) and t.version <= $4
    order by t.version, t.id limit 1`;
  const rows = await query<{ id: number; version: number; bytes: number }>(db, {
    text: `with recursive page as (
      select first.id, first.version, first.bytes, first.bytes::bigint as total, 1 as count from (${next('$2::bigint', '$3::bigint')}) as first
      union all
      select following.id, following.version, following.bytes, page.total + following.bytes, page.count + 1
      from page cross join lateral (${next('page.version', 'page.id')}) as following
      where page.total < $5 and page.count < $6
    ) select id, version, bytes from page order by version, id`,
    values: [workspaceId, start.version, afterId, until, limits.bytes, limits.rows],
  });
  return rows.map(({ id, version, bytes }) => ({ version, source, id, bytes }));
}

/** Merges the rows of all sources, in their order, up to the limits. */
function cut(rowsOfSources: readonly ChangedRow[][], limits: PageLimits): { rows: ChangedRow[]; isLast: boolean } {
  const all = rowsOfSources.flat().sort(compare);
  const rows: ChangedRow[] = [];
  let bytes = 0;
  for (const row of all) {
    if (rows.length > 0 && (rows.length === limits.rows || bytes + row.bytes > limits.bytes)) break;
    rows.push(row);
    bytes += row.bytes;
  }
  // A source that reached a limit by itself may have more rows than it returned.
  return { rows, isLast: rows.length === all.length && bytes < limits.bytes && rows.length < limits.rows };
}

async function readChanges<Change extends object>(
  rows: readonly ChangedRow[],
  sources: readonly ChangeSource<Change>[],
): Promise<({ version: number } & Change)[]> {
  const changes = await Promise.all(
    sources.map(async ({ read }, source) => {
      const ids = rows.filter((row) => row.source === source).map(({ id }) => id);
      return new Map(ids.length === 0 ? [] : (await read(ids)).map(({ id, change }) => [id, change]));
    }),
  );
  return rows.flatMap(({ version, source, id }) => {
    const change = changes[source]?.get(id);
    return change === undefined ? [] : [{ version, ...change }];
  });
}
