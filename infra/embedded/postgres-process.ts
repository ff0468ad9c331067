import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { PostgresPlace } from './postgres-place.ts';

export interface ServerOptions {
  place: PostgresPlace;
  port: number;
  password: string;
  logFile: string;
  maxConnections: number;
  /** False gives up the data of a crash for speed. */
  durable: boolean;
}

/** A PostgreSQL server process that accepts connections. */
export interface PostgresProcess {
  /** Settles when the process is gone, for whatever reason. */
  readonly exited: Promise<void>;
  /** Ends open transactions, writes everything out and ends. */
  stop(): Promise<void>;
}

/** The server said why it would not start. */
export class PostgresRefusal extends Error {}

/** Recovery after a crash counts in. */
const START_TIMEOUT = 120_000;
const STOP_TIMEOUT = 8_000;

/** Only what the programs need: no setting of somebody's own PostgreSQL may reach them. */
export const SERVER_ENVIRONMENT = { PATH: process.env['PATH'], LC_ALL: 'C' };

/** @throws PostgresRefusal */
export async function launchPostgres(options: ServerOptions): Promise<PostgresProcess> {
  const { place, logFile } = options;
  const log = await open(logFile, 'a', 0o600);
  const { size: logged } = await log.stat();
  // In a process group of its own: Ctrl-C in a terminal must not reach it before our requests have drained.
  const child = spawn(path.join(place.bin, 'postgres'), settings(options), {
    detached: true,
    cwd: '/',
    env: SERVER_ENVIRONMENT,
    stdio: ['ignore', log.fd, log.fd],
    ...(place.user !== undefined && { uid: place.user.uid, gid: place.user.gid }),
  });
  let failure: Error | undefined;
  child.on('error', (error) => (failure = error));
  const exited = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  await log.close();
  const keeper = keep(child);
  void exited.then(() => keeper.dismiss());

  const stop = async () => {
    child.kill('SIGINT');
    if (await settled(exited, STOP_TIMEOUT)) return;
    child.kill('SIGQUIT');
    await exited;
  };
  try {
    await accepting(options, exited);
  } catch (error) {
    await stop();
    const refusal = await lastRefusal(logFile, logged);
    throw refusal === undefined ? (failure ?? error) : new PostgresRefusal(refusal, { cause: error });
  }
  return { exited, stop };
}

function settings({ place, port, maxConnections, durable }: ServerOptions): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: maxConnections,
    logging_collector: 'off',
    log_destination: 'stderr',
    ...(!durable && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return ['-D', place.cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Ends the server when we end without having been able to: its input closes with us, and then it sends the signal. */
function keep(server: ChildProcess): { dismiss(): void } {
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

async function accepting({ port, password }: ServerOptions, exited: Promise<void>): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT;
  for (;;) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      const { code } = error as { code?: string };
      // Not listening yet, or recovering still.
      if (code !== 'ECONNREFUSED' && code !== 'ECONNRESET' && code !== '57P03') throw error;
      if (Date.now() > deadline) throw new Error('the database did not accept connections in time', { cause: error });
    } finally {
      await client.end().catch(() => undefined);
    }
    if (await settled(exited, 50)) throw new Error('the database ended at once');
  }
}

/** What the server logged as the reason to give up, in one line. */
async function lastRefusal(logFile: string, from: number): Promise<string | undefined> {
  const lines = (await readFile(logFile)).subarray(from).toString('utf8').split('\n');
  const at = lines.findLastIndex((line) => /\b(?:FATAL|PANIC):|^postgres: /.test(line));
  if (at === -1) return undefined;
  const detail = lines[at + 1] ?? '';
  return [lines[at] ?? '', ...(/\bDETAIL:/.test(detail) ? [detail] : [])]
    .map((line) => line.replace(/^.*?\b(?:FATAL|PANIC|DETAIL): +|^postgres: /, '').trim())
    .join(': ');
}

async function settled(event: Promise<void>, within: number): Promise<boolean> {
  const timer = new AbortController();
  const outcome = await Promise.race([
    event.then(() => true),
    delay(within, false, { signal: timer.signal }).catch(() => false),
  ]);
  timer.abort();
  return outcome;
}
