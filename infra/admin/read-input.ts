import path from 'node:path';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { readInput } from '../cli/src/read-input.ts';
import type { Flag } from './command.ts';

/** Text of a file, or of standard input (`-`). @throws UsageError */
export async function readText(file: string): Promise<string> {
  const { signal } = new AbortController();
  // npm runs commands in the project's folder; INIT_CWD is the folder that it was called from.
  const name = file === '-' ? file : path.resolve(process.env.INIT_CWD ?? '.', file);
  return readInput({ stdin: process.stdin, signal }, name);
}

/** The flags of a secret. @param value what it is in a word; `whose` describes it in the help */
export const secretFlags = (name: string, value: string, whose: string): Record<string, Flag> => ({
  [`${name}-file`]: { value: 'FILE', help: `a file with ${whose} ${value}, which is stored encrypted` },
  [name]: {
    value: value.toUpperCase(),
    help: `the ${value} itself, visible to other users of the machine; - reads it from standard input`,
  },
});

/** The secret of `--<flag>-file` or `--<flag>`. @throws UsageError */
export async function readSecret(
  flag: string,
  { file, secret }: Record<'file' | 'secret', string | undefined>,
): Promise<string> {
  if ((file === undefined) === (secret === undefined)) throw new UsageError(`use either --${flag}-file or --${flag}`);
  if (secret !== undefined && secret !== '-') return secret;
  const text = (await readText(file ?? '-')).trim();
  if (text === '') throw new UsageError(`${file ?? 'standard input'}: contains no secret`);
  return text;
}
