import type { Knex } from '@tocsin/postgres';
import { Gauge, type Logger, type Metrics } from '@tocsin/runtime';

/** Rows of one transaction. */
const BATCH = 500;
/** Workspaces in one log line. */
const MAX_LOGGED = 100;

export interface SealingDependencies {
  database: Knex;
  log: Logger;
  metrics: Metrics;
}

/** Rows behind an ID. */
export interface SealedPage {
  after: number;
  limit: number;
}

/** What is sealed with secret keys, one value in each row. */
interface SealedRows<Row extends { workspaceId: number }, Value> {
  /** Of the gauge that counts those that no configured key opens. */
  gauge: { name: string; help: string };
  /** The log line if there are any: what somebody has to set again, or which key to bring back. */
  message: string;
  /** Rows are listed in its order. */
  idOf: (row: Row) => number;
  /** Lists and locks rows behind an ID that another key than the current one has sealed; skips locked rows. */
  list: (trx: Knex.Transaction, page: SealedPage) => Promise<readonly Row[]>;
  /** Undefined: no configured key opens it, or it is damaged. */
  open: (row: Row) => Value | undefined;
  /** Seals the value with the current key. */
  replace: (trx: Knex.Transaction, row: Row, value: Value) => Promise<void>;
}

/**
 * Seals with the current key what other keys have sealed, so that operators can remove those. What no configured key
 * opens stays as it is; it is counted, and the log names its workspaces.
 * @returns the work of a periodic task
 */
export function sealAgain<Row extends { workspaceId: number }, Value>(
  { database, log, metrics }: SealingDependencies,
  { gauge, message, idOf, list, open, replace }: SealedRows<Row, Value>,
): () => Promise<boolean> {
  const count = new Gauge({ ...gauge, registers: [metrics] });
  return async () => {
    const unopened: Row[] = [];
    let last: Row | undefined;
    do {
      const after = last === undefined ? 0 : idOf(last);
      last = await database.transaction(async (trx) => {
        const rows = await list(trx, { after, limit: BATCH });
        for (const row of rows) {
          const value = open(row);
          if (value === undefined) unopened.push(row);
          else await replace(trx, row, value);
        }
        return rows.at(-1);
      });
    } while (last !== undefined);
    count.set(unopened.length);
    if (unopened.length > 0) {
      const workspaces = [...new Set(unopened.map(({ workspaceId }) => workspaceId))].slice(0, MAX_LOGGED);
      log.error({ count: unopened.length, workspaces }, message);
    }
    return false;
  };
}
