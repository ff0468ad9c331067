import { type DatabaseOptions, openDatabase } from './database.ts';
import { settleWithin } from './settle-within.ts';

/** Checks a dependency of an app. The app is unready only while a `required` one is down. */
export interface ReadinessCheck {
  name: string;
  required: boolean;
  /** Rejects or returns false if the dependency is down. */
  check(): Promise<boolean>;
}

export interface Readiness {
  ready: boolean;
  dependencies: Record<string, 'up' | 'down'>;
}

const CHECK_TIMEOUT = 2_000;

/** Runs all checks concurrently, each for at most `timeout` milliseconds, two seconds by default. */
export async function readiness(checks: readonly ReadinessCheck[], timeout = CHECK_TIMEOUT): Promise<Readiness> {
  const states = await Promise.all(checks.map(async (check) => isUp(check, timeout)));
  return {
    ready: checks.every(({ required }, index) => !required || states[index] === true),
    dependencies: Object.fromEntries(checks.map(({ name }, index) => [name, states[index] === true ? 'up' : 'down'])),
  };
}

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

async function isUp(readinessCheck: ReadinessCheck, timeout: number): Promise<boolean> {
  try {
    return await settleWithin(readinessCheck.check(), timeout, () => false);
  } catch {
    return false;
  }
}
