import { execFile } from 'node:child_process';
import { access, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePorts } from '../ports.ts';
import { endLeftover } from './postgres-leftover.ts';
import { clusterOf, placePostgres, type PostgresPlace } from './postgres-place.ts';
import { launchPostgres, PostgresRefusal, type PostgresProcess, SERVER_ENVIRONMENT } from './postgres-process.ts';

export interface EmbeddedPostgresOptions {
  /** The database's files; made the first time. */
  folder: string;
  /** Of the superuser `postgres`; the one that the files were made with. */
  password: string;
  logFile: string;
  maxConnections: number;
  /** False gives up the data of a crash for speed: for tests. */
  durable?: boolean;
  /** Told when the server went down by itself and is started again. */
  onLoss?: () => void;
}

export interface EmbeddedPostgres {
  /** As the superuser, to the database `postgres`. */
  url: string;
  /** Waits until everything is written out. */
  stop(): Promise<void>;
}

const run = promisify(execFile);

/** A server that was killed has its port and shared memory for a moment longer. */
const LAUNCHES = 20;
const LAUNCH_DELAY = 500;
const RETRIED = /still in use|in use|could not bind|could not create any TCP\/IP sockets/;

/**
 * A real PostgreSQL from an npm package, on a free loopback port. It stays up until it is told to stop, or this process
 * is gone; one that goes down before that is started again, on its port.
 * @throws one clear line
 */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, password, logFile, maxConnections, durable = true, onLoss } = options;
  const place = await placePostgres(folder);
  if (await isMissing(place.cluster)) await initialise(place, password, durable);
  else await endLeftover(place.cluster);

  let stopping = false;
  let server: PostgresProcess | undefined;
  const launch = async (port: number | undefined): Promise<number> => {
    for (let attempt = 1; ; attempt += 1) {
      const [candidate = 0] = port === undefined ? await freePorts(1) : [port];
      try {
        server = await launchPostgres({ place, port: candidate, password, logFile, maxConnections, durable });
        return candidate;
      } catch (error) {
        if (!(error instanceof PostgresRefusal)) throw error;
        if (attempt === LAUNCHES || !RETRIED.test(error.message)) {
          throw new Error(`the database did not start: ${error.message} (see ${logFile})`, { cause: error });
        }
        await delay(LAUNCH_DELAY);
      }
    }
  };
  const port = await launch(undefined);
  const standing = watch();

  async function watch(): Promise<void> {
    while (!stopping) {
      await server?.exited;
      if (isStopping()) return;
      onLoss?.();
      await endLeftover(place.cluster);
      await launch(port).catch(async () => delay(LAUNCH_DELAY));
    }
  }
  // A function, because the flag changes while the watch waits.
  const isStopping = () => stopping;

  return {
    url: `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      stopping = true;
      await server?.stop();
      await standing;
      // In case the watch was just starting a new one.
      await server?.stop();
    },
  };
}

/** Removes a database's files, wherever they are. */
export async function removePostgres(folder: string): Promise<void> {
  const cluster = await clusterOf(folder);
  await endLeftover(cluster);
  if (cluster !== folder) await rm(path.dirname(cluster), { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}

async function isMissing(cluster: string): Promise<boolean> {
  return access(cluster).then(
    () => false,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      throw error;
    },
  );
}

/** Makes the files beside their place and moves them there when they are whole. */
async function initialise({ cluster, bin, user }: PostgresPlace, password: string, durable: boolean): Promise<void> {
  const draft = `${cluster}.new`;
  const passwordFile = `${draft}.password`;
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (user !== undefined) for (const file of [draft, passwordFile]) await chown(file, user.uid, user.gid);
    await run(
      path.join(bin, 'initdb'),
      [
        ['--pgdata', draft],
        ['--username', 'postgres'],
        ['--pwfile', passwordFile],
        ['--auth', 'scram-sha-256'],
        ['--encoding', 'UTF8'],
        // The same order and case mapping on every system, whatever locales it has.
        ['--locale-provider', 'builtin'],
        ['--builtin-locale', 'C.UTF-8'],
        ['--locale', 'C'],
        ...(durable ? [] : [['--no-sync']]),
      ].flat(),
      { cwd: '/', env: SERVER_ENVIRONMENT, ...(user !== undefined && { uid: user.uid, gid: user.gid }) },
    );
    await rename(draft, cluster);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1);
    throw new Error(`the database could not be made in ${path.dirname(cluster)}: ${said ?? (error as Error).message}`, {
      cause: error,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
}
