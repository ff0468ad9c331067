import { describe, expect, test } from '@jest/globals';
import { FairQueue } from '@tocsin/runtime';
import { BACKGROUND, type ConnectionHolder, sharedLimits } from '../src/connection-limits.ts';

/** How many of a pool's connections each holder gets, one after the other, if it asks for all of them. */
function given(size: number, ...holders: ConnectionHolder[]): number[] {
  const leases = new FairQueue(sharedLimits(size));
  for (const holder of holders) for (let count = 0; count < size; count += 1) leases.tryTake(holder);
  return holders.map((holder) => leases.heldBy(holder));
}

describe('of ten connections', () => {
  test('a workspace gets three, and all requests together leave two to background work', () => {
    expect(given(10, 1, 2, 3, 4, BACKGROUND)).toEqual([3, 3, 2, 0, 2]);
  });

  test('background work gets five, and requests the others', () => {
    expect(given(10, BACKGROUND, 1, 2)).toEqual([5, 3, 2]);
  });
});

test('in a pool of any size everybody gets a connection', () => {
  for (let size = 1; size <= 100; size += 1) {
    expect([given(size, 1)[0], given(size, BACKGROUND)[0]].every((count) => count !== undefined && count > 0)).toBe(
      true,
    );
  }
});
