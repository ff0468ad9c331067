import { describe, expect, test } from '@jest/globals';
import { OPERATIONS } from '@tocsin/sdk/operations';
import { runProgram } from '../cli/src/program.ts';

/** Runs a command that sends nothing. */
async function print(...args: string[]): Promise<string> {
  let output = '';
  const stream = { write: (text: string) => (output += text) };
  const session = { env: {}, stdin: {}, stdout: stream, stderr: stream, signal: new AbortController().signal };
  expect([args, await runProgram(args, session), output]).toEqual([args, 0, expect.any(String)]);
  return output;
}
const words = async (...args: string[]) =>
  (await print('--complete', ...args)).split('\n').filter((word) => /^[a-z]/.test(word));

describe('the help of the command tocsin', () => {
  test('has an example of every command, and there is one for every operation', async () => {
    const commands = await words('');
    expect(commands).toEqual(expect.arrayContaining(['incidents', 'timeline', 'keys', 'fields', 'listen', 'mcp']));
    const all = [[], ...commands.map((command) => [command])];
    for (const command of commands) all.push(...(await words(command, '')).map((verb) => [command, verb]));
    for (const each of all)
      expect([each, await print(...each, '--help')]).toEqual([each, expect.stringContaining('Example:\n  ')]);
    // `whoami` is getMe; `config apply`, `events tail`, `incidents export` and the three of `import` are none.
    expect(all.filter(({ length }) => length === 2)).toHaveLength(Object.keys(OPERATIONS).length - 1 + 6);
  });

  test('completes commands and flags', async () => {
    expect(await words('incidents', 'decl')).toEqual(['declare']);
    expect(await print('--complete', 'incidents', 'declare', '--tit')).toBe('--title\n');
    for (const shell of ['bash', 'zsh', 'fish']) expect(await print('completion', shell)).toContain('--complete');
  });
});
