import { execFile } from 'node:child_process';
import { chown, mkdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ignoreMissing } from '../installation/missing-files.ts';
import { freePorts } from '../installation/ports.ts';
import { stopOrphan } from './postgres-orphan.ts';
import { clusterOf, prepareInstallation, type PostgresInstallation } from './postgres-installation.ts';
import { checkVersion, setPassword } from './postgres-repair.ts';
import { launchPostgres, PostgresStartError, type PostgresProcess, SERVER_ENVIRONMENT } from './postgres-process.ts';

export interface EmbeddedPostgresOptions {
  /** The database's files; created the first time. */
  folder: string;
  /** The password of the superuser `postgres`, with which the files were created. */
  password: string;
  logFile: string;
  maxConnections: number;
  /** False trades safety in a crash for speed, for tests. */
  durable?: boolean;
  /** Called when the server stopped unexpectedly and is restarted. */
  onCrash?: () => void;
}

export interface EmbeddedPostgres {
  /** As the superuser, to the database `postgres`. */
  url: string;
  /** Waits until all data is written. */
  stop(): Promise<void>;
}

const run = promisify(execFile);

/** A killed server keeps its port and shared memory for a moment. */
const LAUNCHES = 20;
const LAUNCH_DELAY = 500;
const RETRYABLE = /still in use|in use|could not bind|could not create any TCP\/IP sockets/;

/**
 * Starts a PostgreSQL from an npm package on a free loopback port. It runs until `stop` or until this process ends; if
 * it stops before that, it is restarted on the same port.
 * @throws an error with a one-line message; WrongPassword when the files have another password
 */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, password, logFile, maxConnections, durable = true, onCrash } = options;
  const installation = await prepareInstallation(folder);
  if (await isMissing(installation.cluster)) {
    await initialise(installation, password, durable);
  } else {
    await checkVersion(installation);
    await stopOrphan(installation.cluster);
  }

  let stopping = false;
  let server: PostgresProcess | undefined;
  const launch = async (port: number | undefined): Promise<number> => {
    for (let attempt = 1; ; attempt += 1) {
      const [candidate = 0] = port === undefined ? await freePorts(1) : [port];
      try {
        server = await launchPostgres({ installation, port: candidate, password, logFile, maxConnections, durable });
        return candidate;
      } catch (error) {
        if (!(error instanceof PostgresStartError)) throw error;
        if (attempt === LAUNCHES || !RETRYABLE.test(error.message)) {
          throw new Error(`the database did not start: ${error.message} (see ${logFile})`, { cause: error });
        }
        await delay(LAUNCH_DELAY);
      }
    }
  };
  const port = await launch(undefined);
  const supervision = supervise();

  async function supervise(): Promise<void> {
    while (!stopping) {
      await server?.exited;
      if (isStopping()) return;
      onCrash?.();
      await stopOrphan(installation.cluster);
      await launch(port).catch(async () => delay(LAUNCH_DELAY));
    }
  }
  // A function, because the flag changes during the awaits above.
  const isStopping = () => stopping;

  return {
    url: `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      stopping = true;
      await server?.stop();
      await supervision;
      // The supervision may just have started a new one.
      await server?.stop();
    },
  };
}

/**
 * Changes the password of the superuser of the database in a folder. The database must not be running.
 * @returns whether there is a database
 */
export async function changePassword(folder: string, password: string): Promise<boolean> {
  const place = await prepareInstallation(folder);
  if (await isMissing(place.cluster)) return false;
  await checkVersion(place);
  await stopOrphan(place.cluster);
  await setPassword(place, password);
  return true;
}

/** Removes a database's files, also through a symbolic link. */
export async function removePostgres(folder: string): Promise<void> {
  // For a link without a target there are no other files.
  if (!(await isMissing(folder))) {
    const cluster = await clusterOf(folder);
    await stopOrphan(cluster);
    for (const file of [cluster, ...draftsOf(cluster)]) await rm(file, { recursive: true, force: true });
    // The target of the link may contain other files.
    if (cluster !== folder) await rmdir(path.dirname(cluster)).catch(ignoreNotEmpty);
  }
  await rm(folder, { recursive: true, force: true });
}

/** The temporary files during the creation of a database. */
const draftsOf = (cluster: string): [folder: string, password: string] => [`${cluster}.new`, `${cluster}.new.password`];

function ignoreNotEmpty(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}

const isMissing = async (cluster: string) => (await stat(cluster).catch(ignoreMissing)) === undefined;

/** Creates the files beside their final folder and renames them when they are complete. */
async function initialise(
  { cluster, bin, user }: PostgresInstallation,
  password: string,
  durable: boolean,
): Promise<void> {
  const [draft, passwordFile] = draftsOf(cluster);
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
    const stderr = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1);
    throw new Error(`cannot create the database in ${path.dirname(cluster)}: ${stderr ?? (error as Error).message}`, {
      cause: error,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
}
