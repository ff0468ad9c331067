import { execFile } from 'node:child_process';
import { chmod, chown, cp, lstat, mkdir, mkdtemp, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { findBinaries } from './postgres-binaries.ts';

const run = promisify(execFile);

/** A user of this machine. */
export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/** Where a database's files and programs are, and whom it runs as; `undefined`: as ourselves. */
export interface PostgresPlace {
  cluster: string;
  bin: string;
  user: SystemUser | undefined;
}

/** PostgreSQL refuses to run as root, who therefore lends it to the first of these that there is. */
const LOWLY_USERS = ['postgres', 'nobody'];

/** For what a lowly user cannot reach where it is, as under a home folder that is closed to others. */
const SHARED_FOLDER = '/var/lib/tocsin';

/**
 * Finds the programs, and makes sure that whoever runs them can get at them and at `folder`. What root keeps out of the
 * others' reach is put into a folder of the system's instead, to which `folder` is then a link.
 */
export async function placePostgres(folder: string): Promise<PostgresPlace> {
  const { folder: installed, version } = await findBinaries();
  const bin = (root: string) => path.join(root, 'bin');
  if (process.getuid?.() !== 0) return { cluster: folder, bin: bin(installed), user: undefined };

  const user = await userFor(folder);
  const cluster = await reachableCluster(folder, user);
  if (await canExecute(user, path.join(bin(installed), 'postgres'))) return { cluster, bin: bin(installed), user };
  const copy = path.join(SHARED_FOLDER, `postgresql-${version}-${process.arch}`);
  if ((await findStat(copy)) === undefined) {
    const draft = await sharedFolder(user, 'programs-');
    await cp(installed, draft, { recursive: true, verbatimSymlinks: true });
    await chmod(draft, 0o755);
    // Whoever made the same copy meanwhile made it just as well.
    await rename(draft, copy).catch(async () => rm(draft, { recursive: true }));
  }
  return { cluster, bin: bin(copy), user };
}

/** Where a database is, or is to be: a folder of its own, or what a link leads to. */
export async function clusterOf(folder: string): Promise<string> {
  const found = await findLinkStat(folder);
  return found?.isSymbolicLink() === true ? path.join(await realpath(folder), 'cluster') : folder;
}

async function userFor(folder: string): Promise<SystemUser> {
  const owner = await findStat(await clusterOf(folder));
  // A database that is there goes on as the user that it belongs to.
  if (owner !== undefined && owner.uid !== 0) return { name: `#${owner.uid}`, uid: owner.uid, gid: owner.gid };
  for (const name of LOWLY_USERS) {
    const ids = await Promise.all(['-u', '-g'].map(async (which) => run('id', [which, name]))).catch(() => undefined);
    // As a signed number: some systems have a "nobody" close to 2^32.
    const [uid, gid] = (ids ?? []).map(({ stdout }) => Number(stdout) | 0);
    if (uid !== undefined && gid !== undefined) return { name, uid, gid };
  }
  throw new Error(
    `PostgreSQL does not run as root, and there is no user ${LOWLY_USERS.join(' or ')}: start this as another user`,
  );
}

async function reachableCluster(folder: string, user: SystemUser): Promise<string> {
  const isLink = (await findLinkStat(folder))?.isSymbolicLink() === true;
  if (!isLink && !(await canExecute(user, path.dirname(folder)))) {
    if ((await findStat(folder)) !== undefined) {
      throw new Error(`the user ${user.name}, as whom the database has to run, cannot reach ${folder}`);
    }
    await symlink(await sharedFolder(user, 'data-'), folder);
  }
  return clusterOf(folder);
}

/** A new folder that `user` can get at. */
async function sharedFolder(user: SystemUser, prefix: string): Promise<string> {
  try {
    await mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 });
    const folder = await mkdtemp(path.join(SHARED_FOLDER, prefix));
    await chown(folder, user.uid, user.gid);
    return folder;
  } catch (error) {
    throw new Error(
      `the user ${user.name}, as whom the database has to run, cannot get at files under this folder, ` +
        `and ${SHARED_FOLDER} cannot be used instead: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** For a folder: whether the user can enter it. */
async function canExecute({ uid, gid }: SystemUser, file: string): Promise<boolean> {
  return run('sh', ['-c', 'test -x "$1"', 'sh', file], { uid, gid, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

const findStat = async (file: string) => stat(file).catch(ignoreMissing);
const findLinkStat = async (file: string) => lstat(file).catch(ignoreMissing);

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
