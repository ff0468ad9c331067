import { databaseHosts, type DatabaseOptions, type Knex, openDatabase, openSession } from '@tocsin/postgres';
import type pg from 'pg';

/** Runs `work` in a session of its own (`openSession`). */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
  config: pg.ClientConfig = {},
): Promise<Result> {
  const client = await openSession(databaseHosts(url, config));
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

/** Opens a pool on the schema of an app, as its role; `sessionUrl` says that sessions may be shared. */
export const openAppDatabase = (
  { url, schema, sessionUrl }: { url: string; schema: string; sessionUrl?: string },
  options: Pick<DatabaseOptions, 'application' | 'poolSize'>,
): Knex => openDatabase({ url, schema, sharesSessions: sessionUrl !== undefined, ...options });
