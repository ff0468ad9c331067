import type { ReadinessCheck } from '@tocsin/runtime';
import { type DatabaseOptions, openDatabase, query } from './database.ts';

/** The readiness check of a database. */
export interface DatabaseReadiness extends ReadinessCheck {
  close(): Promise<void>;
}

/** For the statement, so that the connection is replaced before the next check; milliseconds. */
const STATEMENT_TIMEOUT = 1_000;

/**
 * Writes no row, and needs no transaction ID. A server that is a standby, or read-only, refuses it all the same: then the
 * connection is replaced, because the address may lead to another server by now.
 */
const READ_AND_WRITE =
  'insert into migrations (name) select name from (select name from migrations limit 1) as first where name is null';

/**
 * Checks a database on a connection of its own, so that requests which use the whole pool do not make the app unready.
 * It reads a table of the schema and may write there, as requests do: with the settings and the search path of every other
 * session, and the privileges of its role. Concurrent checks share one statement.
 */
export function databaseReadiness(
  options: Pick<DatabaseOptions, 'url' | 'schema' | 'application' | 'sharesSessions'>,
): DatabaseReadiness {
  const deadlines = { statement: STATEMENT_TIMEOUT, statementMargin: 200, connect: 1_500 };
  const database = openDatabase({ ...options, poolSize: 1, deadlines });
  let running: Promise<boolean> | undefined;
  return {
    name: 'database',
    required: true,
    check: async () =>
      (running ??= query(database, { text: READ_AND_WRITE })
        .then(() => true)
        .finally(() => (running = undefined))),
    close: async () => database.destroy(),
  };
}
