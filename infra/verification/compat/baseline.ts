import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../../installation/environment.ts';
import { lastRelease } from './last-release.ts';

const run = promisify(execFile);

/** What the present sources must work together with. */
export interface Baseline {
  /** The tag or other revision that names it. */
  revision: string;
  commit: string;
}

/** Runs git in a folder. @throws Error with a one-line message */
export async function git(folder: string, ...args: string[]): Promise<string> {
  try {
    return (await run('git', ['-C', folder, ...args])).stdout.trim();
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new Error('git is not installed', { cause: error });
    throw new Error(`git ${args[0] ?? ''}: ${stderr?.trim().split('\n', 1)[0] ?? ''}`, { cause: error });
  }
}

/**
 * Finds a revision; by default the tag of the last release, and undefined if there is no release yet.
 * @throws Error that says what to do when this is no clone, or when the clone lacks the revision
 */
export async function findBaseline(revision = tagOf(lastRelease())): Promise<Baseline | undefined> {
  if (revision === undefined) return undefined;
  await git(ROOT, 'rev-parse', '--git-dir').catch((error: unknown) => {
    throw new Error(`this needs a git clone with its history: ${(error as Error).message}`, { cause: error });
  });
  try {
    return { revision, commit: await git(ROOT, 'rev-parse', '--verify', `${revision}^{commit}`) };
  } catch (error) {
    const isShallow = (await git(ROOT, 'rev-parse', '--is-shallow-repository')) === 'true';
    throw new Error(
      `${revision} is not in this ${isShallow ? 'shallow ' : ''}clone: run git fetch --tags${isShallow ? ' --unshallow' : ''}`,
      { cause: error },
    );
  }
}

const tagOf = (version: string | undefined) => (version === undefined ? undefined : `v${version}`);
