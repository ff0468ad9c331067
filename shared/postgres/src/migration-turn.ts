import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { MIGRATION_CONNECTION } from './migration-connection.ts';

/** Milliseconds between two attempts. */
const RETRY = 250;

/** The right to migrate a schema, which one process at a time has. */
export interface MigrationTurn {
  /** Its session holds the right. It is in no transaction, since indexes wait for the end of all older ones. */
  readonly client: pg.Client;
  /** @throws Error if the session has ended, so that another process may be migrating */
  check(): void;
  end(): Promise<void>;
}

/**
 * Waits until no other process migrates the schema.
 * @param options.wait milliseconds
 * @throws Error when another one still does after this time
 */
export async function takeMigrationTurn(options: {
  url: string;
  schema: string;
  wait: number;
}): Promise<MigrationTurn> {
  const { url, schema, wait } = options;
  const client = new pg.Client({ connectionString: url, ...MIGRATION_CONNECTION });
  let lost: Error | undefined;
  client.on('error', (error) => (lost = error));
  await client.connect();
  try {
    // Not pg_advisory_lock: a session that waits in a statement would in turn hold up the indexes of the other process.
    const take = 'select pg_try_advisory_lock(hashtext($1)) as taken';
    const deadline = performance.now() + wait;
    const isTaken = async () => {
      const { rows } = await client.query<{ taken: boolean }>(take, [`tocsin-migrate-${schema}`]);
      return rows[0]?.taken === true;
    };
    while (!(await isTaken())) {
      if (performance.now() > deadline) {
        throw new Error(
          `another process has been migrating the schema for ${Math.round(wait / 1_000)} s: try again later`,
        );
      }
      await delay(RETRY);
    }
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    client,
    check: () => {
      if (lost !== undefined)
        throw new Error(`lost the connection that locks the migrations: ${lost.message}`, { cause: lost });
    },
    // Closing the connection releases the lock.
    end: async () => client.end(),
  };
}
