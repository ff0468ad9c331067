import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { OPERATIONS } from '@tocsin/sdk/operations';
import { createProgram, runProgram } from '../src/program.ts';
import { TOCSIN } from './tocsin-command.ts';

/** Runs a command that sends nothing. */
async function print(...args: string[]): Promise<string> {
  let output = '';
  const stream = { write: (text: string) => (output += text) };
  const stdin = Readable.from([]);
  const session = { env: {}, stdin, stdout: stream, stderr: stream, signal: new AbortController().signal };
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
    for (const each of all) {
      const help = await print(...each, '--help');
      expect([each, help]).toEqual([each, expect.stringContaining('Example:\n  ')]);
      const [options = '', example = ''] = help.split('Example:\n');
      // That of all commands is a command.
      const flags = each.length < 2 ? [] : (example.split('\n')[0]?.match(/(?<= )--[a-z-]+/g) ?? []);
      expect([each, flags.filter((flag) => !options.includes(`${flag} `))]).toEqual([each, []]);
    }
    // `whoami` is getMe; `events tail`, `incidents export` and the three of `import` are none.
    expect(all.filter(({ length }) => length === 2)).toHaveLength(Object.keys(OPERATIONS).length - 1 + 5);
  });

  test('says what a flag takes: all values, or where the configured keys are', async () => {
    const help = await print('incidents', 'declare', '--help');
    expect(help).toMatch(/--severity <value> +a configured key, see tocsin config\s+list-severities\n/);
    expect(help).toMatch(/--customer-impact-status <value> +string \(choices: "unknown", "none",\s+"confirmed"\)\n/);
    const listing = await print('incidents', 'list', '--help');
    expect(listing).toMatch(
      /--status <value> +a configured key, see tocsin config\s+list-workflow-statuses, repeatable\n/,
    );
    expect(await words('config', 'list-')).toEqual(['list-workflow-statuses', 'list-severities']);
    expect(await words('services', 'list-')).toEqual(['list-tiers']);
    expect(await words('follow-ups', 'update', '--status', '')).toEqual(['open', 'done', 'dropped']);
    // Those that take any text, too, are no choices.
    expect(await print('events', 'list', '--help')).not.toContain('choices: "beginning"');
  });

  test('says in one sentence that Node is too old, with every Node that knows modules', async () => {
    expect(await readFile(TOCSIN, 'utf8')).not.toMatch(/^(?:import|export|.*\bawait)\b(?!\()/m);
    const older = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '18.20.8' })`;
    const child = spawn(process.execPath, ['--import', older, TOCSIN, 'whoami']);
    const [message] = await Promise.all([readAll(child.stderr), once(child, 'close')]);
    expect([child.exitCode, message]).toEqual([
      2,
      'tocsin needs Node 22.15 or later, and was started with Node 18.20.8\n',
    ]);
  });

  test('an option with one value is not given twice, and a list grows', async () => {
    let output = '';
    const stream = { write: (text: string) => (output += text) };
    const signal = new AbortController().signal;
    const session = { env: {}, stdin: Readable.from([]), stdout: stream, stderr: stream, signal };
    for (const [args, option] of [
      ['plan a.yaml --only-tag a --only-tag b', '--only-tag <tag>'],
      ['plan a --from csv --from backstage', '--from <source>'],
      ['import pagerduty fetch a --since 2026-01-01 --since 2026-02-01', '--since <date>'],
      ['incidents export --cursor a --cursor b', '--cursor <cursor>'],
      ['whoami --context a --context b', '--context <name>'],
    ] as const) {
      output = '';
      expect([args, await runProgram(args.split(' '), session), output]).toEqual([
        ...[args, 2, `error: option '${option}' is given twice\n`],
      ]);
    }
    const plan = createProgram(session, ['plan']).commands.find((each) => each.name() === 'plan');
    plan?.parseOptions(['a.yaml', '--prune', 'teams', '--prune', 'services,fields']);
    expect(plan?.opts()).toEqual({ prune: 'teams,services,fields' });
  });

  test('completes commands and flags', async () => {
    expect(await words('incidents', 'decl')).toEqual(['declare']);
    expect(await print('--complete', 'incidents', 'declare', '--tit')).toBe('--title\n');
    for (const shell of ['bash', 'zsh', 'fish']) expect(await print('completion', shell)).toContain('--complete');
  });
});
