import pg from 'pg';

/** The same text for the same value, whatever the settings of server and role are; and no limits of time. */
const SETTINGS = [
  `client_encoding = 'UTF8'`,
  `timezone = 'UTC'`,
  `datestyle = 'ISO, YMD'`,
  `intervalstyle = 'postgres'`,
  `extra_float_digits = 1`,
  `bytea_output = 'hex'`,
  `statement_timeout = 0`,
  `idle_in_transaction_session_timeout = 0`,
];

/** Runs `work` on a connection of its own. */
export async function withSession<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'tocsin-backup',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
  });
  // A lost connection fails the statement that is running; without a listener it would also be an uncaught exception.
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (const setting of SETTINGS) await client.query(`set ${setting}`);
    return await work(client);
  } finally {
    await client.end();
  }
}
