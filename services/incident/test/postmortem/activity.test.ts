import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import {
  type Entry,
  MAX_BYTES,
  MAX_ENTRIES,
  orderEntries,
  takeFromBothEnds,
} from '../../src/postmortem/domain/activity.ts';

const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 9, 0, second)).toISOString();
const change = (id: number, bytes = 0): Entry => ({
  ...{ kind: 'change', at: at(id), id, key: null, actor: '1' },
  changes: [{ field: 'title', from: '', to: 'x'.repeat(bytes) }],
});

const taken = async (entries: readonly Entry[]) => {
  const reading = async function* (all: readonly Entry[]) {
    yield* all;
  };
  const { head, tail } = await takeFromBothEnds(entries.length, {
    forward: reading(entries),
    backward: reading(entries.toReversed()),
  });
  return [head, tail].map((part) => part.map(({ id }) => id));
};

test('entries are in the order of time; at one time, changes come first', () => {
  const rows = [
    { kind: 'timeline_event', at: at(1), id: 1 },
    { kind: 'timeline_event', at: at(0), id: 3 },
    { kind: 'timeline_event', at: at(1), id: 1 },
    { kind: 'change', at: at(1), id: 9 },
    { kind: 'change', at: at(1), id: 2 },
  ] as const;
  expect(orderEntries(rows).map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    'timeline_event 3',
    'change 2',
    'change 9',
    'timeline_event 1',
  ]);
});

test('of too many entries, the first and the last ones are kept', () => {
  const rows = Array.from({ length: MAX_ENTRIES + 7 }, (_, id) => change(id));
  const kept = orderEntries(rows).map(({ id }) => id);
  const half = MAX_ENTRIES / 2;
  expect(kept).toEqual([...Array(half).keys(), ...Array.from({ length: half }, (_, index) => index + half + 7)]);
});

test('small entries are all taken', async () => {
  const [head, tail] = await taken(Array.from({ length: 9 }, (_, id) => change(id)));
  expect([...(head ?? []), ...(tail ?? [])]).toEqual([...Array(9).keys()]);
});

test('the entries that are taken are a beginning and an end, within the limit, and the next one would not fit', async () => {
  const sizes = fc.array(fc.integer({ min: 0, max: MAX_BYTES }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, async (bytes) => {
      const entries = bytes.map((size, id) => change(id, size));
      const [head = [], tail = []] = await taken(entries);
      const ids = [...entries.keys()];
      expect(head).toEqual(ids.slice(0, head.length));
      expect(tail).toEqual(ids.slice(ids.length - tail.length));
      const sizeOf = (id: number) => Buffer.byteLength(JSON.stringify(entries[id]));
      const sum = (all: number[]) => all.reduce((total, id) => total + sizeOf(id), 0);
      const [first, last] = [sum(head), sum(tail)];
      expect(first + last).toBeLessThanOrEqual(MAX_BYTES);
      if (head.length + tail.length === entries.length) return;
      const next = first <= last ? head.length : ids.length - tail.length - 1;
      expect(first + last + sizeOf(next)).toBeGreaterThan(MAX_BYTES);
    }),
  );
});
