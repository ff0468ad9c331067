import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { ROOT } from '../environment.ts';

const run = promisify(execFile);

export const BASELINE_FILE = path.join(import.meta.dirname, 'baseline.json');

const baselineSchema = z.strictObject({
  release: z.string().min(1),
  commit: z.string().regex(/^[0-9a-f]{40}$/, 'must be a full commit hash'),
});

/** The release that the present sources must work together with. `npm run release` moves it. */
export type Baseline = z.infer<typeof baselineSchema>;

/** @throws Error when the file is malformed */
export async function readBaseline(): Promise<Baseline> {
  return baselineSchema.parse(JSON.parse(await readFile(BASELINE_FILE, 'utf8')));
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

/** @throws Error that says what to do when this is no clone, or when the clone lacks the commit */
export async function requireCommit({ release, commit }: Baseline): Promise<void> {
  await git(ROOT, 'rev-parse', '--git-dir').catch((error: unknown) => {
    throw new Error(`this needs a git clone with its history: ${(error as Error).message}`, { cause: error });
  });
  const exists = await git(ROOT, 'cat-file', '-e', `${commit}^{commit}`).then(
    () => true,
    () => false,
  );
  if (exists) return;
  const isShallow = (await git(ROOT, 'rev-parse', '--is-shallow-repository')) === 'true';
  throw new Error(
    `the baseline ${commit} (${release}) is not in this ${isShallow ? 'shallow ' : ''}clone: run ` +
      (isShallow ? 'git fetch --unshallow' : `git fetch origin ${commit}`),
  );
}
