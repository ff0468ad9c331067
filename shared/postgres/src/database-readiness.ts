import type { ReadinessCheck } from '@tocsin/runtime';
import { type DatabaseOptions, openDatabase } from './database.ts';

/** The readiness check of a database. */
export interface DatabaseReadiness extends ReadinessCheck {
  close(): Promise<void>;
}

/** For the statement, so that the connection is replaced before the next check; milliseconds. */
const STATEMENT_TIMEOUT = 1_000;

/**
 * Checks a database on a connection of its own, so that requests which use the whole pool do not make the app unready.
 * It reads a table of the schema as a request does: with the settings and the search path of every other session, and the
 * privileges of its role. Concurrent checks share one statement.
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
        .raw('select 1 from migrations limit 1')
        .then(() => true)
        .finally(() => (running = undefined))),
    close: async () => database.destroy(),
  };
}
