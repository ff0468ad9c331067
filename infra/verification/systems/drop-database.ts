import pg from 'pg';
import { withClient } from '../../installation/databases.ts';

/** Milliseconds; a server that does not respond must not delay the end of a broken run. */
const CONNECT_TIMEOUT = 5_000;

/** Drops a database, if it exists, and ends its connections. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withClient(
    serverUrl,
    async (client) => client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`),
    { connectionTimeoutMillis: CONNECT_TIMEOUT },
  );
}
