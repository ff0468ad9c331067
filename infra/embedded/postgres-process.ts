import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { PostgresInstallation } from './postgres-installation.ts';

export interface ServerOptions {
  installation: PostgresInstallation;
  port: number;
  password: string;
  logFile: string;
  maxConnections: number;
  /** False trades safety in a crash for speed. */
  durable: boolean;
}

/** A PostgreSQL server process that accepts connections. */
export interface PostgresProcess {
  /** Settles when the process has ended. */
  readonly exited: Promise<void>;
  /** Ends open transactions, writes all data and ends. */
  stop(): Promise<void>;
}

/** The server did not start, and logged why. */
export class PostgresStartError extends Error {}

/** The server runs, but does not accept the password. */
export class WrongPassword extends Error {}

const INVALID_PASSWORD = '28P01';

/** Milliseconds, including recovery after a crash. */
const START_TIMEOUT = 120_000;
const STOP_TIMEOUT = 8_000;

/** Only what the programs need: settings for another PostgreSQL must not reach them. */
export const SERVER_ENVIRONMENT = { PATH: process.env['PATH'], LC_ALL: 'C' };

/** @throws PostgresRefusal or WrongPassword */
export async function launchPostgres(options: ServerOptions): Promise<PostgresProcess> {
  const { installation, logFile } = options;
  const log = await open(logFile, 'a', 0o600);
  const { size: logSize } = await log.stat();
  // In a separate process group: Ctrl-C in a terminal must not reach it before requests have finished.
  const child = spawn(path.join(installation.bin, 'postgres'), settings(options), {
    detached: true,
    cwd: '/',
    env: SERVER_ENVIRONMENT,
    stdio: ['ignore', log.fd, log.fd],
    ...(installation.user !== undefined && { uid: installation.user.uid, gid: installation.user.gid }),
  });
  let failure: Error | undefined;
  child.on('error', (error) => (failure = error));
  const exited = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  await log.close();
  const keeper = startKeeper(child);
  void exited.then(() => keeper.dismiss());

  const stop = async () => {
    child.kill('SIGINT');
    if (await settlesWithin(exited, STOP_TIMEOUT)) return;
    child.kill('SIGQUIT');
    await exited;
  };
  try {
    await waitForConnections(options, exited);
  } catch (error) {
    await stop();
    if ((error as { code?: string }).code === INVALID_PASSWORD) {
      throw new WrongPassword(`the database in ${installation.cluster} has another password`, { cause: error });
    }
    const message = await loggedStartError(logFile, logSize);
    throw message === undefined ? (failure ?? error) : new PostgresStartError(message, { cause: error });
  }
  return { exited, stop };
}

function settings({ installation, port, maxConnections, durable }: ServerOptions): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: maxConnections,
    logging_collector: 'off',
    log_destination: 'stderr',
    ...(!durable && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return ['-D', installation.cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Starts a shell that stops the server when this process dies: its input closes, and it sends the signal. */
function startKeeper(server: ChildProcess): { dismiss(): void } {
  if (server.pid === undefined) return { dismiss: () => undefined };
  const keeper = spawn('sh', ['-c', 'read -r line || kill -INT "$1"', 'sh', String(server.pid)], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keeper.on('error', () => undefined);
  keeper.stdin.on('error', () => undefined);
  keeper.unref();
  return { dismiss: () => keeper.stdin.end('dismissed\n') };
}

async function waitForConnections({ port, password }: ServerOptions, exited: Promise<void>): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT;
  for (;;) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      const { code } = error as { code?: string };
      // Not listening yet, or still recovering.
      if (code !== 'ECONNREFUSED' && code !== 'ECONNRESET' && code !== '57P03') throw error;
      if (Date.now() > deadline)
        throw new Error('the database did not accept connections within two minutes', { cause: error });
    } finally {
      await client.end().catch(() => undefined);
    }
    if (await settlesWithin(exited, 50)) throw new Error('the database stopped during its start');
  }
}

/** The error that the server logged when it did not start, in one line. */
async function loggedStartError(logFile: string, from: number): Promise<string | undefined> {
  const lines = (await readFile(logFile)).subarray(from).toString('utf8').split('\n');
  const at = lines.findLastIndex((line) => /\b(?:FATAL|PANIC):|^postgres: /.test(line));
  if (at === -1) return undefined;
  const detail = lines[at + 1] ?? '';
  return [lines[at] ?? '', ...(/\bDETAIL:/.test(detail) ? [detail] : [])]
    .map((line) => line.replace(/^.*?\b(?:FATAL|PANIC|DETAIL): +|^postgres: /, '').trim())
    .join(': ');
}

async function settlesWithin(event: Promise<void>, within: number): Promise<boolean> {
  const timer = new AbortController();
  const outcome = await Promise.race([
    event.then(() => true),
    delay(within, false, { signal: timer.signal }).catch(() => false),
  ]);
  timer.abort();
  return outcome;
}
