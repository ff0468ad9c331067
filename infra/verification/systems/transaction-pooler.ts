import { roleOf } from '@tocsin/postgres';
import type { Environment } from '@tocsin/runtime';
import { startPgBouncer, TRANSACTION_PGBOUNCER } from '@tocsin/testing';
import pg from 'pg';
import { withClient } from '../../installation/databases.ts';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { sharedRoles } from './database-urls.ts';

interface Session {
  role: string;
  application: string;
  isPooled: boolean;
}

/** A pooler in transaction mode in front of a database, with few sessions for each role. */
export interface TransactionPooler {
  /** Lead all apps to it. */
  readonly settings: Environment;
  /** The sessions of the database, apart from that which asks: of which role, and whether they are the pooler's. */
  sessions(): Promise<Session[]>;
  stop(): Promise<void>;
}

/** Whether the systems of a test run are to be behind one. */
export const isPooled = (): boolean => process.env['TOCSIN_TEST_POOLED'] === '1';

/** @param databaseUrl of an administrator, who needs no password */
export async function startTransactionPooler(databaseUrl: string, { poolSize = 5 } = {}): Promise<TransactionPooler> {
  const pooler = await startPgBouncer(databaseUrl, {
    program: TRANSACTION_PGBOUNCER,
    roles: APP_NAMES.map((app) => roleOf('tocsin', APPS[app].schema.name)),
    settings: {
      ...{
        pool_mode: 'transaction',
        default_pool_size: poolSize,
        max_prepared_statements: 500,
        max_client_conn: 5_000,
      },
      admin_users: new URL(databaseUrl).username,
    },
  });
  const poolerPids = async (): Promise<number[]> => {
    const console = new pg.Client({ connectionString: pooler.url.replace(/\/[^/]*$/, '/pgbouncer') });
    await console.connect();
    try {
      return (await console.query<{ remote_pid: number }>('show servers')).rows.map((row) => row.remote_pid);
    } finally {
      await console.end();
    }
  };
  return {
    settings: { DATABASE_URL: pooler.url, DATABASE_SESSION_URL: databaseUrl, ...sharedRoles(pooler.url) },
    sessions: async () =>
      withClient(databaseUrl, async (client) => {
        const before = await poolerPids();
        const { rows } = await client.query<Omit<Session, 'isPooled'> & { pid: number }>(
          `select pid, usename as role, application_name as application from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
        );
        // It may have opened or closed some meanwhile.
        const pids = new Set([...before, ...(await poolerPids())]);
        return rows.map(({ pid, ...session }) => ({ ...session, isPooled: pids.has(pid) }));
      }),
    stop: pooler.stop,
  };
}
