import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Logger } from '@tocsin/runtime';
import type { DataDir } from '../installation/data-dir.ts';
import { rotate } from './logs.ts';
import { WrongPassword } from './postgres-process.ts';
import { changePassword, type EmbeddedPostgres, startPostgres } from './postgres.ts';

/** The folder of the database in a data folder. */
export const databaseFolder = (dataDir: Pick<DataDir, 'path'>) => path.join(dataDir.path, 'postgres');

/** A running embedded PostgreSQL and Tocsin's database in it. */
export interface EmbeddedDatabase {
  /** As the superuser, to the database `tocsin`. */
  url: string;
  /** Waits until all data is written. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL of a data folder, which is created the first time.
 * @throws an error with a one-line message
 */
export async function openEmbeddedDatabase(options: {
  dataDir: DataDir;
  maxConnections: number;
  log?: Logger;
}): Promise<EmbeddedDatabase> {
  const { dataDir, maxConnections, log } = options;
  const folder = databaseFolder(dataDir);
  const password = await dataDir.secret('postgres-password', async () => {
    const generated = randomBytes(24).toString('base64url');
    const isRepair = await changePassword(folder, generated);
    if (isRepair) log?.warn('postgres-password was missing; the database has a new password');
    return generated;
  });
  let postgres: EmbeddedPostgres;
  try {
    postgres = await startPostgres({
      folder,
      password,
      logFile: rotate(path.join(dataDir.path, 'postgres.log')),
      maxConnections,
      onCrash: () => log?.error('the database stopped unexpectedly; restarting it'),
    });
  } catch (error) {
    throw error instanceof WrongPassword ? passwordMismatch(dataDir.path, folder, error) : error;
  }
  return { url: inDatabase(postgres.url, 'tocsin'), stop: postgres.stop };
}

const passwordMismatch = (dataDir: string, folder: string, cause: Error) =>
  new Error(
    `${path.join(dataDir, 'postgres-password')} is not the password of the database in ${folder}: ` +
      'restore it, or remove the file, and the next start makes a new password',
    { cause },
  );

function inDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
