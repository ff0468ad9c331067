import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runAdmin } from '../run-admin.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { output = '' } = await runAdmin(['completion', shell], {});
    await writeFile(path.join(folder, shell), output);
  }
});
afterAll(async () => rm(folder, { recursive: true }));

const run = (shell: string, ...args: string[]) => execFileSync(shell, args, { cwd: folder, encoding: 'utf8' });

/** What bash offers after a line. */
const inBash = (line: string) => {
  const script = `
    source ./bash
    COMP_LINE=$1 COMP_POINT=\${#1}
    _tocsin-admin
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  return run('bash', '--norc', '-c', script, 'bash', line);
};

/** What zsh offers after a line: `compadd` is replaced, because only the line editor has it. */
const inZsh = (line: string) => {
  const script = `
    compdef() { }
    source ./zsh
    compadd() { shift; print -rl -- "$@" }
    words=("\${(@s: :)1}") CURRENT=\${#words}
    _tocsin-admin`;
  return run('zsh', '-f', '-c', script, 'zsh', line);
};

const inFish = (line: string) => run('fish', '--no-config', '-c', 'source ./fish; complete -C $argv[1]', line);

describe.each([
  ['bash', inBash],
  ['zsh', inZsh],
  ['fish', inFish],
])('%s', (shell, complete) => {
  // Skipped, and counted, where the shell is not installed: the shell itself runs the script.
  const inShell = spawnSync(shell, ['-c', 'exit 0']).status === 0 ? test : test.skip;

  inShell('runs the script without an error, and asks the command', () => {
    run(shell, '-n', shell);
    const words = complete('tocsin-admin webhook deliveries --workspace acme --status f').split('\n');
    expect(words.filter((word) => word !== '')).toEqual(['failed']);
  });
});

test.each([
  ['w', ['workspace', 'webhook']],
  ['webhook ', ['list', 'deliveries', 'delivery', 'redeliver', '--version', '--json', '--help']],
  ['webhook delivery ', ['show', '--version', '--json', '--help']],
  ['workspace set --no-', ['--no-demo', '--no-short-title-required']],
  ['key revoke --', ['--id', '--version', '--json', '--help']],
  ['user set --role m', ['manager', 'member']],
  // The shell completes the names of files.
  ['workspace configure --file ', []],
  ['completion ', ['bash', 'zsh', 'fish', '--version', '--json', '--help']],
])('after %j stand %j', async (line, words) => {
  const { output = '' } = await runAdmin(['--complete', ...line.split(' ')], {});
  expect(output.split('\n').filter((word) => word !== '')).toEqual(words);
});

// Skipped like the tests above.
(spawnSync('bash').status === 0 ? test : test.skip)('bash completes scopes after the colon that splits words', () => {
  expect(inBash('tocsin-admin key create --scope incidents:r')).toBe('read\n');
});
