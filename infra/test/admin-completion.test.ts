import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runAdmin } from '../admin/run-admin.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-completion-'));
  for (const shell of ['bash', 'zsh']) {
    const { output = '' } = await runAdmin(['completion', shell], {});
    await writeFile(path.join(folder, shell), output);
  }
  await writeFile(path.join(folder, 'workspace.json'), '{}');
});
afterAll(async () => rm(folder, { recursive: true }));

const has = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

/** What bash offers after a line. */
function inBash(line: string): string[] {
  const script = `
    source ./bash
    COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=() COMP_CWORD=0
    _tocsin_admin
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const words = ['--norc', '-c', script, 'bash', line];
  return execFileSync('bash', words, { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean);
}

/** What zsh offers after a line: `compadd` and `_files` are replaced, because only the line editor has them. */
function inZsh(line: string): string[] {
  const script = `
    compdef() { }
    source ./zsh
    compadd() { shift; for word; do [[ $word == $words[CURRENT]* ]] && print -r -- $word; done }
    _files() { print -rl -- *(N) }
    words=("\${(@s: :)1}") CURRENT=\${#words}
    _tocsin_admin
    true`;
  const words = ['-f', '-c', script, 'zsh', line];
  return execFileSync('zsh', words, { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean);
}

describe.each([
  ['bash', inBash],
  ['zsh', inZsh],
])('%s', (shell, complete) => {
  // Skipped, and counted, where the shell is not installed: the shell itself runs the script.
  const inShell = has(shell) ? test : test.skip;

  inShell('has no error in the script', () => {
    execFileSync(shell, ['-n', path.join(folder, shell)]);
  });

  inShell.each([
    ['tocsin-admin w', ['workspace', 'webhook']],
    ['tocsin-admin webhook ', ['list', 'deliveries', 'delivery', 'redeliver']],
    ['tocsin-admin webhook delivery ', ['show']],
    ['tocsin-admin workspace set --no-', ['--no-demo', '--no-short-title-required']],
    ['tocsin-admin key revoke ', ['--id', '--json', '--help']],
    ['tocsin-admin user set --role m', ['manager', 'member']],
    ['tocsin-admin webhook deliveries --workspace acme --status f', ['failed']],
    ['tocsin-admin workspace create --name ', []],
    ['tocsin-admin completion ', ['bash', 'zsh', '--json', '--help']],
  ])('completes %j', (line, candidates) => {
    expect(complete(line).toSorted()).toEqual([...candidates].toSorted());
  });

  inShell('completes the names of files', () => {
    expect(complete('tocsin-admin workspace configure --file ')).toContain('workspace.json');
  });
});

// Skipped like the tests above.
(has('bash') ? test : test.skip)('bash completes scopes, which have a colon, after the colon that splits words', () => {
  expect(inBash('tocsin-admin key create --scope incidents:r')).toEqual(['read']);
});
