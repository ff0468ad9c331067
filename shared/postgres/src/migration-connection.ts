import type pg from 'pg';
import { databaseHosts } from './database-hosts.ts';
import { openSession } from './session.ts';

/**
 * Of every connection for migrations. A server that has vanished is noticed within fifteen seconds, however long its
 * statement takes.
 */
export const MIGRATION_CONNECTION = {
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  application_name: 'tocsin-migrate',
};

/** Opens a session for migrations: its statements have no limit. */
export const openMigrationSession = async (url: string): Promise<pg.Client> =>
  openSession(databaseHosts(url, MIGRATION_CONNECTION));
