import { expect, test } from '@jest/globals';
import { createPlaces } from '../../src/mcp/places.ts';

const takeAll = ({ take }: ReturnType<typeof createPlaces>, key: number) => {
  const releases: (() => void)[] = [];
  for (let release = take(key); release !== undefined; release = take(key)) releases.push(release);
  return releases;
};

test('whatever one key takes, others get places, and a key alone half of them', () => {
  const places = createPlaces(64);
  const counts = [1, 2, 3, 4].map((key) => takeAll(places, key).length);
  expect(counts).toEqual([32, 16, 8, 4]);
  expect(places.take(1)).toBeUndefined();
});

test('places that are given back are free for all keys', () => {
  const places = createPlaces(8);
  for (let round = 0; round < 3; round += 1) for (const release of takeAll(places, round)) release();
  expect(takeAll(places, 9)).toHaveLength(4);
});
