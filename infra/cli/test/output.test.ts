import { expect, test } from '@jest/globals';
import { createOutput } from '../src/output.ts';

/** A title that would clear the screen, turn the direction, and say something to agents. */
const HOSTILE = 'Pay\u001b[2J\u202eta\u009b1m\u{e0041}\u{e007f}\u200b';
const HIDDEN = /[\p{Cc}\u202e\u{e0041}\u{e007f}\u200b]/u;
const row = { id: 1, title: HOSTILE, [`key${HOSTILE}`]: 'x' };

/** What is written, without the styles of the command itself. */
function written(isTTY: boolean, json: boolean, write: (output: ReturnType<typeof createOutput>) => void): string {
  let text = '';
  const stream = { isTTY, write: (part: string) => (text += part) };
  write(createOutput({ stdout: stream, stderr: stream }, { json }));
  return text.replaceAll(/\u001b\[(?:1|22)m/g, '');
}

const WAYS: [string, (output: ReturnType<typeof createOutput>) => void][] = [
  [
    'rows',
    (output) => {
      output.rows([row], undefined);
      output.end();
    },
  ],
  ['a response', (output) => output.reply({ incident: row }, 'incident')],
  ['a line', (output) => output.line(JSON.stringify(row, undefined, 2))],
  ['a note', (output) => output.note(HOSTILE)],
];

test.each(WAYS)('%s controls no terminal, also as JSON', (_, write) => {
  for (const json of [false, true]) {
    const text = written(true, json, write);
    expect(text.replaceAll('\n', '')).not.toMatch(HIDDEN);
    expect(text).toContain(String.raw`\u001b[2J\u202e`);
  }
});

test('JSON on a terminal is the same value, and a pipe gets it unchanged', () => {
  const reply = (output: ReturnType<typeof createOutput>) => output.reply({ incident: row }, 'incident');
  expect(JSON.parse(written(true, true, reply))).toEqual({ incident: row });
  expect(written(false, false, reply)).toBe(`${JSON.stringify({ incident: row }, undefined, 2)}\n`);
});

test('what scripts and emoji are made of stays', () => {
  const text = '👩‍👩‍👧 ❤️ می‌خواهم';
  expect(written(true, false, (output) => output.line(text))).toBe(`${text}\n`);
});

test('a table aligns wide characters, and cuts what is too long', () => {
  const rows = [
    { id: 7, name: '東京', on: true },
    { id: 1_234, name: 'e\u0301'.repeat(50), on: null },
    { id: 8, name: '👩‍👩‍👧'.repeat(30), on: null },
  ];
  const text = written(true, false, (output) => output.rows(rows, ['id', 'name', 'on']));
  expect(text.split('\n')).toEqual([
    `ID    ${'NAME'.padEnd(40)}  ON`,
    `7     東京${' '.repeat(36)}  true`,
    `1234  ${'e\u0301'.repeat(39)}…  -`,
    `8     ${'👩‍👩‍👧'.repeat(19)}…   -`,
    '',
  ]);
});
