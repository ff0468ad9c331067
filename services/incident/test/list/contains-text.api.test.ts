import { fold } from '@tocsin/schemas';
import { expect, test } from '@jest/globals';
import { query } from '@tocsin/postgres';
import fc from '@tocsin/testing/fuzz';
import { containsText } from '../../src/shared/store/contains-text.ts';
import { sql, statementOf } from '../../src/shared/store/sql.ts';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
const { knex: database } = service;

async function contained(pairs: readonly (readonly [text: string, searched: string])[]): Promise<boolean[]> {
  return Promise.all(
    pairs.map(async ([text, searched]) => {
      const [row] = await query<{ is: boolean }>(
        database,
        statementOf(sql`select ${containsText(sql`part`, searched)} as is from unnest(${[text]}::text[]) as part`),
      );
      return row!.is;
    }),
  );
}

/** Few characters, so that texts repeat themselves, and what means something in patterns and regular expressions. */
const unit = fc.constantFrom(
  'a',
  'b',
  'ß',
  'σ',
  '日',
  '😀',
  '😁',
  '\u0301',
  '\u0001',
  '\n',
  '\r',
  ' ',
  ...'.*+?^$()[]{}|\\%_-=:!<>dswmyABZ'.split('').map(fold),
);
const repeated = fc
  .tuple(fc.array(unit, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 100 }), unit)
  .map(([units, times, last]) => units.join('').repeat(times) + last);
const text = fc.oneof(
  fc.array(unit, { minLength: 1, maxLength: 40 }).map((units) => units.join('')),
  repeated,
);

test('finds a part of a text, and nothing else, whatever the characters', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, fc.nat(300), fc.integer({ min: 1, max: 200 }), async (whole, other, from, length) => {
      const part = [...whole]
        .slice(from % [...whole].length)
        .slice(0, length)
        .join('');
      const pairs = [
        [whole, part],
        [whole, other],
        [other, whole],
        [whole, `${part}a`],
        [whole, `b${part}`],
        [whole + other, part + other],
      ] as const;
      expect(await contained(pairs)).toEqual(pairs.map(([one, searched]) => one.includes(searched)));
    }),
    { numRuns: 300 },
  );
});

const A = 'a'.repeat(199);
test.each([
  ['a long run', `b${A}`],
  ['the end of a run', `${A}b`],
  ['the middle of a run', `${'a'.repeat(100)}b${'a'.repeat(99)}`],
  ['characters of four bytes', `😁${'😀'.repeat(199)}`],
  ['a searched text that grew when it was folded', fold('ΐ'.repeat(200))],
  ['the director of a regular expression', `***=${A}`],
  ['flags of a regular expression', `(?i)${A}`],
])('finds %s in the largest texts', async (_what, searched) => {
  const parts = [...searched];
  const filler = (of: string) => of.repeat(65_536 - parts.length);
  const runs = [filler(parts.at(-1)!), filler(parts[0]!)];
  const without = [...runs, filler(parts[1]!), parts.slice(1).join('') + runs[0]!];
  const found = runs.flatMap((filling) => [filling + searched, searched + filling]);
  expect(await contained(found.map((one) => [one, searched]))).toEqual(found.map(() => true));
  expect(await contained(without.map((one) => [one, searched]))).toEqual(without.map((one) => one.includes(searched)));
});
