import { Readable } from 'node:stream';
import { runProgram } from '../src/program.ts';
import type { Finished, TocsinSettings } from './tocsin-command.ts';

/** Runs the command in this process, as `runTocsin` does in one of its own. */
export async function runHere(
  settings: TocsinSettings,
  args: readonly string[],
  { signal = new AbortController().signal, answer = undefined as string | undefined } = {},
): Promise<Finished> {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) });
  // Somebody who answers sits before a terminal.
  const stdin = Object.assign(Readable.from(answer === undefined ? [] : [answer]), { isTTY: answer !== undefined });
  const session = { env: settings, stdin, stdout: into('stdout'), stderr: into('stderr'), signal };
  const code = await runProgram(args, session);
  return { code, ...written };
}
