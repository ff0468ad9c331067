import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { isLargeValue } from '@tocsin/schemas';
import { toLargeValue } from '../../src/incidents/domain/large-value.ts';

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

test('a large value is shown as the digest and length of its canonical JSON', () => {
  expect(toLargeValue('ä')).toEqual({ digest: sha256('"ä"'), bytes: 4 });
  expect(toLargeValue({ b: [1, 'x', null], a: { '10': 1, '9': 2 }, gone: undefined })).toEqual({
    digest: sha256('{"a":{"10":1,"9":2},"b":[1,"x",null]}'),
    bytes: 37,
  });
});

test('equal values have equal digests, whatever the order of their members', () => {
  expect(toLargeValue({ a: 1, b: { c: 2, d: 3 } })).toEqual(toLargeValue({ b: { d: 3, c: 2 }, a: 1 }));
  expect(toLargeValue({ a: 1 })).not.toEqual(toLargeValue({ a: 2 }));
});

test('a digest is recognized', () => {
  expect(isLargeValue(toLargeValue('x'))).toBe(true);
  for (const other of ['x', null, {}, { digest: 'sha256:1', bytes: 1 }, { ...toLargeValue('x'), more: 1 }]) {
    expect(isLargeValue(other)).toBe(false);
  }
});
