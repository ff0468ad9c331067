import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Edition, type Editions, editions } from '../src/domain/editions.ts';

const RULES = { absentReads: 6, absentFor: 30_000, max: 4 };
const INTERVAL = 5_000;

let now: number;
let all: Editions<Edition>;
beforeEach(() => {
  now = 0;
  all = editions({ id: 'baked' }, RULES, now);
});

const current = () => all.current.map(({ id }) => id);

/** Reads an edition, as often as its ID is given, with the usual interval. Returns whether the last one counts. */
function read(...ids: string[]): boolean {
  let counts = false;
  for (const id of ids) {
    now += INTERVAL;
    counts = all.see(id, now) || all.add({ id }, now);
  }
  return counts;
}
const times = (count: number, id: string) => Array.from({ length: count }, () => id);

describe('the editions of a description', () => {
  test('begin with the one of the release', () => expect(current()).toEqual(['baked']));

  test('a new one counts at once, as the newest; the previous one until it was absent long enough', () => {
    read('two');
    expect(current()).toEqual(['two', 'baked']);
    read(...times(4, 'two'));
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

  test('many quick reads do not end an edition before its time, and time does not without reads', () => {
    read('two');
    for (let count = 0; count < 50; count += 1) all.see('two', now + count);
    expect(current()).toEqual(['two', 'baked']);
    now = 3_600_000;
    all = editions({ id: 'baked' }, RULES, 0);
    read('two');
    expect(current()).toEqual(['two', 'baked']);
  });

  test('an edition that is seen again keeps its place', () => {
    read('two', ...times(10, 'two'));
    expect(current()).toEqual(['two']);
    expect(read('baked')).toBe(true);
    expect(current()).toEqual(['two', 'baked']);
    // A release that was taken back: the older edition is the only one in the end.
    read(...times(6, 'baked'));
    expect(current()).toEqual(['baked']);
  });

  test('too many do not count; one does when there is room', () => {
    read('2', '3', '4');
    expect(read('5')).toBe(false);
    expect(current()).toEqual(['4', '3', '2', 'baked']);
    expect(read(...times(4, '5'))).toBe(true);
    expect(current()).toContain('5');
    expect(current().length).toBeLessThanOrEqual(RULES.max);
  });

  test('a new one at every read: never more than the maximum, and memory stays bounded', () => {
    for (let count = 0; count < 1_000; count += 1) {
      read(`edition-${count}`);
      expect(current().length).toBeLessThanOrEqual(RULES.max);
    }
    read(...times(20, 'final'));
    expect(current()).toEqual(['final']);
  });
});
