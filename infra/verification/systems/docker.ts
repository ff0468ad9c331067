import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from '../../installation/environment.ts';

/** A shell whose output has its errors, too. */
export type Shell = (script: string) => Promise<{ code: number | null; output: string }>;

/** A shell in a folder. */
export const shellIn =
  (cwd: string, env: NodeJS.ProcessEnv = process.env): Shell =>
  async (script) => {
    const child = spawn('bash', ['-c', `exec 2>&1\n${script}`], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>]);
    return { code, output };
  };

/** Whether the engine has an image; those that were loaded from a file have no digest. */
export const hasImage = (name: string): boolean => spawnSync('docker', ['image', 'inspect', name]).status === 0;

export const withoutDigest = (image: string): string => image.replace(/@.*/, '');

/** Copies the sources as they are into a folder. An engine whose base image has no digest builds and runs them without. */
export async function copySources(shell: Shell): Promise<void> {
  await shell(`(cd '${ROOT}' && git ls-files -z --cached --others --exclude-standard | tar -c --null -T -) | tar -x`);
  const [, base = ''] = /^ARG NODE_IMAGE=(\S+)/m.exec(readFileSync(path.join(ROOT, 'infra/Dockerfile'), 'utf8')) ?? [];
  if (!hasImage(base) && hasImage(withoutDigest(base)))
    await shell(`sed -i -E 's/@sha256:[0-9a-f]+//' docker-compose.yml infra/Dockerfile`);
}
