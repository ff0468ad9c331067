import type pg from 'pg';
import { withClient } from '../databases.ts';

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
export const withSession = async <Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> =>
  withClient(
    url,
    async (client) => {
      for (const setting of SETTINGS) await client.query(`set ${setting}`);
      return work(client);
    },
    {
      application_name: 'tocsin-backup',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    },
  );
