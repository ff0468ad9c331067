/**
 * `pages` is the pages of lists (contract: Lists and cursors). A store reads one row more than the page has, in the
 * order of an index, behind the position of the cursor; nothing is counted or skipped, so the last page costs what the
 * first does. This file serialises row after row until the page has its rows or 4 MiB, and takes the first one in any
 * case. Pages with large rows are built one at a time for each workspace, and refused while it leaves too much of other
 * responses unread. `pagination.ts` signs cursors: one has the sort keys of the last row and the name of their segment
 * (`sort-key.ts`), and is valid only for its workspace, path, filters and sort. No process keeps anything of a list, so
 * cursors outlive restarts.
 */
import { setImmediate } from 'node:timers/promises';
import { currentRequest } from '@tocsin/runtime';
import { type Json, JsonRows } from '../json/json-rows.ts';
import { throttleByWorkspace } from '../server/throttle-by-workspace.ts';
import type { Pagination } from './pagination.ts';
import { processUnsentBytes } from '../streams/unsent-bytes.ts';

/** The rows of a page have at most this many bytes of JSON, unless its first row alone has more (contract: Lists and cursors). */
export const MAX_PAGE_BYTES = 4_194_304;
/** How many bytes are serialised before other requests get their turn: about a millisecond. */
const YIELD_AFTER = 262_144;

interface PageOptions<Listed, Row, Wire> {
  /** Up to `limit + 1` rows in the order of the list. */
  listed: readonly Listed[];
  limit: number;
  /**
   * Reads the first `limit` rows completely, one after the other, only as far as they are asked for; undefined stands
   * for a row that is gone. May end early. Default: the listed rows are complete.
   */
  whole?: (listed: readonly Listed[]) => Iterable<Row | undefined> | AsyncIterable<Row | undefined>;
  /** What the API shows of a row, or the JSON of it. */
  view: (row: Row) => Wire | Json<Wire>;
  nextCursor: (last: Listed) => string;
  /** Where the list continues after the listed rows, if they are fewer than there may be. */
  continueAt?: string | undefined;
}

export interface Page<Wire> {
  rows: JsonRows<Wire>;
  pagination: Pagination;
}

/**
 * Builds the page of a list. It has `limit` rows, or as many as fit into `MAX_PAGE_BYTES`, but always one (contract:
 * Lists and cursors).
 * @throws DomainError `rate_limited` if its rows are large and other responses of the workspace are not read
 */
export async function buildPage<Listed, Wire, Row = Listed>(
  options: PageOptions<Listed, Row, Wire>,
): Promise<Page<Wire>> {
  const workspaceId = currentRequest()?.holder;
  const weight = weightOf(options.listed.slice(0, options.limit));
  if (typeof workspaceId !== 'number' || weight === 0) return build(options);
  return throttleByWorkspace(workspaceId, async () => {
    // Refused before its rows are read, if it will not be sent anyway.
    processUnsentBytes.check(workspaceId, Math.min(weight, MAX_PAGE_BYTES));
    return build(options);
  });
}

/** The sum of the sizes of the large columns, as far as they are not in the listed rows. */
const weightOf = (listed: readonly unknown[]): number =>
  listed.reduce<number>((sum, row) => sum + ((row as { largeWeight?: number | null }).largeWeight ?? 0), 0);

async function build<Listed, Wire, Row>(options: PageOptions<Listed, Row, Wire>): Promise<Page<Wire>> {
  const { listed, limit, view, nextCursor } = options;
  const whole = options.whole ?? ((all) => all as readonly unknown[] as readonly Row[]);
  const rows = new JsonRows<Wire>();
  let shown = 0;
  let unyielded = 0;
  /** Returns false for a row that does not fit. */
  const add = (row: Row | undefined): boolean => {
    if (row !== undefined) {
      const shown = view(row);
      const json = shown instanceof Buffer ? shown : Buffer.from(JSON.stringify(shown));
      if (rows.bytes > 0 && rows.bytes + json.length > MAX_PAGE_BYTES) return false;
      rows.add(json);
      unyielded += json.length;
    }
    shown += 1;
    return true;
  };
  const yieldIfDue = (): Promise<void> | undefined => {
    if (unyielded <= YIELD_AFTER) return undefined;
    unyielded = 0;
    return setImmediate();
  };
  const wholeRows = whole(listed.slice(0, limit));
  if (Symbol.iterator in wholeRows) {
    // Nothing to wait for: awaiting each row would take longer than serialising it.
    for (const row of wholeRows) {
      if (!add(row)) break;
      const yielded = yieldIfDue();
      if (yielded !== undefined) await yielded;
    }
  } else {
    for await (const row of wholeRows) {
      if (!add(row)) break;
      await yieldIfDue();
    }
  }
  const last = listed[shown - 1];
  const cursor = listed.length > shown && last !== undefined ? nextCursor(last) : options.continueAt;
  const more = cursor !== undefined;
  return { rows, pagination: { limit, has_more: more, ...(more && { next_cursor: cursor }) } };
}
