import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { ignoreMissing } from '../installation/missing-files.ts';
import { findBinaries } from './postgres-binaries.ts';

const run = promisify(execFile);

/** A user of this machine. */
interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/** The files and programs of a database, and the user that it runs as; `undefined`: the current user. */
export interface PostgresInstallation {
  cluster: string;
  bin: string;
  /** The version of the programs, such as `18.4.0`. */
  version: string;
  user: SystemUser | undefined;
}

/** PostgreSQL refuses to run as root: root runs it as the first of these users that exists. */
const UNPRIVILEGED_USERS = ['postgres', 'nobody'];

/** For files that an unprivileged user cannot reach, such as files in a home folder that is closed to others. */
const SHARED_FOLDER = '/var/lib/tocsin';

/**
 * Finds the programs, and ensures that their user can reach them and `folder`. Where root's folders are closed to that
 * user, uses a shared system folder instead, and makes `folder` a symbolic link to it.
 */
export async function prepareInstallation(folder: string): Promise<PostgresInstallation> {
  const { folder: installed, version } = await findBinaries();
  const bin = (root: string) => path.join(root, 'bin');
  if (process.getuid?.() !== 0) return { cluster: folder, bin: bin(installed), version, user: undefined };

  const user = await userFor(folder);
  const cluster = await reachableCluster(folder, user);
  if (await canExecute(user, path.join(bin(installed), 'postgres'))) {
    return { cluster, bin: bin(installed), version, user };
  }
  const copy = path.join(SHARED_FOLDER, `postgresql-${version}-${process.arch}`);
  if ((await findStat(copy)) === undefined) {
    const draft = await sharedFolder(user, 'programs-');
    await cp(installed, draft, { recursive: true, verbatimSymlinks: true });
    await chmod(draft, 0o755);
    // Another process may have made the same copy.
    await rename(draft, copy).catch(async () => rm(draft, { recursive: true }));
  }
  return { cluster, bin: bin(copy), version, user };
}

/** The folder of a database cluster: `folder` itself, or a folder in the target of the link. */
export async function clusterOf(folder: string): Promise<string> {
  const stats = await findLinkStat(folder);
  if (stats?.isSymbolicLink() !== true) return folder;
  const target = await realpath(folder).catch(ignoreMissing);
  if (target !== undefined) return path.join(target, 'cluster');
  throw new Error(
    `${folder} is a link to a missing folder: restore ${await readlink(folder)}, or remove the data with make reset`,
  );
}

async function userFor(folder: string): Promise<SystemUser> {
  const owner = await findStat(await clusterOf(folder));
  // An existing database runs as the owner of its files.
  if (owner !== undefined && owner.uid !== 0) return { name: `#${owner.uid}`, uid: owner.uid, gid: owner.gid };
  for (const name of UNPRIVILEGED_USERS) {
    const ids = await Promise.all(['-u', '-g'].map(async (which) => run('id', [which, name]))).catch(() => undefined);
    // As a signed number: on some systems the ID of "nobody" is close to 2^32.
    const [uid, gid] = (ids ?? []).map(({ stdout }) => Number(stdout) | 0);
    if (uid !== undefined && gid !== undefined) return { name, uid, gid };
  }
  throw new Error(
    `PostgreSQL cannot run as root, and there is no user ${UNPRIVILEGED_USERS.join(' or ')}: start Tocsin as another user`,
  );
}

async function reachableCluster(folder: string, user: SystemUser): Promise<string> {
  const isLink = (await findLinkStat(folder))?.isSymbolicLink() === true;
  if (!isLink && !(await canExecute(user, path.dirname(folder)))) {
    if ((await findStat(folder)) !== undefined) {
      throw new Error(`the database must run as the user ${user.name}, who cannot reach ${folder}`);
    }
    await symlink(await sharedFolder(user, 'data-'), folder);
  }
  return clusterOf(folder);
}

/** Creates a folder that `user` can reach. */
async function sharedFolder(user: SystemUser, prefix: string): Promise<string> {
  try {
    await mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 });
    const folder = await mkdtemp(path.join(SHARED_FOLDER, prefix));
    await chown(folder, user.uid, user.gid);
    return folder;
  } catch (error) {
    throw new Error(
      `the database must run as the user ${user.name}, who cannot reach files in this folder, ` +
        `and ${SHARED_FOLDER} cannot be used instead: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** Whether the user can execute a file or enter a folder. */
async function canExecute({ uid, gid }: SystemUser, file: string): Promise<boolean> {
  return run('sh', ['-c', 'test -x "$1"', 'sh', file], { uid, gid, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

const findStat = async (file: string) => stat(file).catch(ignoreMissing);
const findLinkStat = async (file: string) => lstat(file).catch(ignoreMissing);
