import { expect, test } from '@jest/globals';
import { inOrder } from '../src/address-order.ts';

const FOUR = ['8.8.8.8', '1.1.1.1', '9.9.9.9'];
const SIX = ['2606:4700:4700::1111', '2001:4860:4860::8888'];

test('the families take turns', () => {
  expect(inOrder([...FOUR, ...SIX], true)).toEqual([SIX[0], FOUR[0], SIX[1], FOUR[1], FOUR[2]]);
  expect(inOrder([...FOUR, ...SIX], false)).toEqual([FOUR[0], SIX[0], FOUR[1], SIX[1], FOUR[2]]);
  expect(inOrder(FOUR, true)).toEqual(FOUR);
});

test('each address is tried once, and at most eight are', () => {
  expect(inOrder(['8.8.8.8', '8.8.8.8'], true)).toEqual(['8.8.8.8']);
  expect(inOrder(Array.from({ length: 4_000 }, (_, index) => `8.8.${index >> 8}.${index & 255}`))).toHaveLength(8);
});
