import { beforeEach, expect, test } from '@jest/globals';
import { countAfterRound, type CountedVersion, type DescriptionVersion } from '../src/domain/description-versions.ts';

const RULES = { max: 4, absentRounds: 6 };
let counted: readonly CountedVersion<DescriptionVersion>[];
beforeEach(() => {
  counted = [{ version: { id: 'baked' }, absentRounds: 0 }];
});

const current = () => counted.map(({ version }) => version.id);

/** A round of reads for each argument; it sees these versions. */
function read(...rounds: (string | string[])[]): void {
  for (const round of rounds) {
    counted = countAfterRound(
      counted,
      [round].flat().map((id) => ({ id })),
      RULES,
    );
  }
}
const times = (count: number, id: string) => Array.from({ length: count }, () => id);

test('a new version counts at once, as the newest; the previous one until it was absent long enough', () => {
  read('two');
  expect(current()).toEqual(['two', 'baked']);
  read(...times(RULES.absentRounds - 2, 'two'));
  expect(current()).toEqual(['two', 'baked']);
  read('two');
  expect(current()).toEqual(['two']);
});

test('processes of two releases behind one address change nothing, as long as both answer', () => {
  read('two');
  for (let count = 0; count < 100; count += 1) {
    read(...(count % 3 === 0 ? ['baked', 'two'] : ['two', 'two', 'baked']));
    expect(current()).toEqual(['two', 'baked']);
  }
});

test('processes of several releases at several addresses count in the order of their first round', () => {
  read(['baked', 'two', 'three'], ['three', 'baked', 'two']);
  expect(current()).toEqual(['three', 'two', 'baked']);
});

test('a round that sees nothing valid takes nothing away', () => {
  read('two', ...Array.from({ length: 50 }, () => []));
  expect(current()).toEqual(['two', 'baked']);
});

test('a release that was taken back is the only one in the end', () => {
  read('two', 'baked');
  expect(current()).toEqual(['two', 'baked']);
  read(...times(RULES.absentRounds, 'baked'));
  expect(current()).toEqual(['baked']);
});

test('too many do not count; one does when there is room', () => {
  read('2', '3', '4', '5');
  expect(current()).toEqual(['4', '3', '2', 'baked']);
  read(...times(2, '5'));
  expect(current()).toEqual(['5', '4', '3', '2']);
});

test('a new one in every round: never more than the maximum', () => {
  for (let count = 0; count < 1_000; count += 1) {
    read(`version-${count}`);
    expect(current().length).toBeLessThanOrEqual(RULES.max);
  }
  read(...times(20, 'final'));
  expect(current()).toEqual(['final']);
});
