import pg from 'pg';

/** Milliseconds; a server that does not respond must not delay the end of a broken run. */
const CONNECT_TIMEOUT = 5_000;

/** Drops a database, if it exists, and ends its connections. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: CONNECT_TIMEOUT });
  await client.connect();
  await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
  await client.end();
}
