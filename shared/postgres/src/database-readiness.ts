import type { ReadinessCheck } from '@tocsin/runtime';
import { type DatabaseOptions, openDatabase } from './database.ts';

/** The readiness check of a database. */
export interface DatabaseReadiness extends ReadinessCheck {
  close(): Promise<void>;
}

/** For `select 1`, so that the connection is replaced before the next check; milliseconds. */
const STATEMENT_TIMEOUT = 1_000;

/**
 * Checks a database on a connection of its own, so that requests which use the whole pool do not make the app unready.
 * Concurrent checks share one statement.
 */
export function databaseReadiness(options: Pick<DatabaseOptions, 'url' | 'schema' | 'application'>): DatabaseReadiness {
  const deadlines = { statement: STATEMENT_TIMEOUT, statementMargin: 200, connect: 1_500 };
  const database = openDatabase({ ...options, poolSize: 1, deadlines });
  let running: Promise<boolean> | undefined;
  return {
    name: 'database',
    required: true,
    check: async () =>
      (running ??= database
        .raw('select 1')
        .then(() => true)
        .finally(() => (running = undefined))),
    close: async () => database.destroy(),
  };
}
