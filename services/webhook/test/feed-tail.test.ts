import { describe, expect, test } from '@jest/globals';
import { feedTail, type TailEvent } from '../src/feed/domain/feed-tail.ts';

const TYPES = ['a', 'b'];
const event = (position: number, change: Partial<TailEvent> = {}): TailEvent => ({
  position,
  type: 'a',
  resource: 'incident:1',
  body: 'x'.repeat(10),
  ...change,
});
const tailOf = (head: number, ...positions: number[]) => {
  const tail = feedTail(head, { maxEvents: 4, maxSize: 100 });
  tail.append(positions.map((position) => event(position)));
  return tail;
};
const positionsIn = (page: { events: readonly TailEvent[] } | undefined) =>
  page?.events.map(({ position }) => position);
const all = { types: TYPES, limit: 100 };

describe('the tail of a feed', () => {
  test('has the events behind the position where it began', () => {
    const tail = tailOf(7, 8, 9);
    expect(tail.head).toBe(9);
    expect(tail.read({ ...all, after: 7 })).toMatchObject({ position: 9, hasMore: false });
    expect(positionsIn(tail.read({ ...all, after: 7 }))).toEqual([8, 9]);
    expect(positionsIn(tail.read({ ...all, after: 8 }))).toEqual([9]);
    expect(positionsIn(tail.read({ ...all, after: 9 }))).toEqual([]);
    expect(tail.read({ ...all, after: 6 })).toBeUndefined();
    expect(tail.read({ ...all, after: 10 })).toBeUndefined();
  });

  test('has what a reader wants, and passes the rest', () => {
    const tail = tailOf(0, 1);
    tail.append([event(2, { type: 'b' }), event(3, { resource: 'incident:2' })]);
    expect(positionsIn(tail.read({ ...all, types: ['b'], after: 0 }))).toEqual([2]);
    expect(positionsIn(tail.read({ ...all, resource: 'incident:2', after: 0 }))).toEqual([3]);
    expect(tail.read({ ...all, types: [], after: 0 })).toEqual({ events: [], position: 3, hasMore: false });
  });

  test('has pages: the position of one that is full is its last event', () => {
    const tail = tailOf(0, 1, 2, 3);
    expect(tail.read({ ...all, limit: 2, after: 0 })).toMatchObject({ position: 2, hasMore: true });
    expect(tail.read({ ...all, limit: 2, after: 2 })).toMatchObject({ position: 3, hasMore: false });
    expect(tail.read({ ...all, limit: 3, after: 0 })).toMatchObject({ position: 3, hasMore: false });
  });

  test('forgets the oldest events when there are too many, or too large ones', () => {
    const tail = tailOf(0, 1, 2, 3, 4, 5);
    expect(tail.read({ ...all, after: 0 })).toBeUndefined();
    expect(positionsIn(tail.read({ ...all, after: 1 }))).toEqual([2, 3, 4, 5]);
    tail.append([event(6, { body: 'x'.repeat(85) })]);
    expect(positionsIn(tail.read({ ...all, after: 4 }))).toEqual([5, 6]);
    expect(tail.size).toBe(95);
    tail.append([event(7, { body: 'x'.repeat(101) })]);
    expect(tail).toMatchObject({ head: 7, size: 0 });
    expect(tail.read({ ...all, after: 6 })).toBeUndefined();
    expect(positionsIn(tail.read({ ...all, after: 7 }))).toEqual([]);
  });

  test('keeps its position when its events are dropped', () => {
    const tail = tailOf(0, 1, 2);
    tail.drop();
    expect(tail).toMatchObject({ head: 2, size: 0 });
    expect(tail.read({ ...all, after: 1 })).toBeUndefined();
    tail.append([event(3)]);
    expect(positionsIn(tail.read({ ...all, after: 2 }))).toEqual([3]);
  });

  test('has no gaps', () => {
    expect(() => tailOf(0, 2)).toThrow('gaps');
    expect(() => tailOf(0, 1, 1)).toThrow('gaps');
  });
});
