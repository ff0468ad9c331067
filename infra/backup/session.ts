import type pg from 'pg';
import { withClient } from '../installation/databases.ts';

/** Runs `work` in a session of its own. */
export const withSession = async <Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> =>
  withClient(url, work, {
    application_name: 'tocsin-backup',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
  });
