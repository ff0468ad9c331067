import type { Knex } from '@tocsin/postgres';
import pg from 'pg';

/** Runs `work` on a connection of its own to Postgres. */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
  options: pg.ClientConfig = {},
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, ...options });
  // A lost connection fails the statement that is running; without a listener it would also be an uncaught exception.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs `work` on a database that was opened for it, and closes the database. */
export async function withDatabase<Result>(database: Knex, work: (database: Knex) => Promise<Result>): Promise<Result> {
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}
