import { describe, expect, test } from '@jest/globals';
import { ConfigError, generateSecretKeys, openKeyring, parseSecretKeys } from '../src/index.ts';

const one = generateSecretKeys();
const two = `other:${Buffer.alloc(32, 7).toString('base64')}`;

describe('sealing', () => {
  test('opens with the same purpose and context only', () => {
    const ring = openKeyring(one, 'webhook-secret');
    const sealed = ring.seal('whsec_é', 'subscription 7');
    expect(sealed.box.toString('latin1')).not.toContain('whsec');
    expect(ring.open(sealed, 'subscription 7')).toBe('whsec_é');
    expect(() => ring.open(sealed, 'subscription 8')).toThrow();
    expect(() => openKeyring(one, 'slack-token').open(sealed, 'subscription 7')).toThrow();
  });

  test('never gives the same box twice, and notices a changed one', () => {
    const ring = openKeyring(one, 'p');
    const sealed = ring.seal('text', 'c');
    expect(ring.seal('text', 'c').box).not.toEqual(sealed.box);
    sealed.box[sealed.box.length - 1]! ^= 1;
    expect(() => ring.open(sealed, 'c')).toThrow();
  });
});

describe('rotating keys', () => {
  test('a new first key seals and signs, the old ones still open and verify', () => {
    const old = openKeyring(one, 'p');
    const rotated = openKeyring(`${two},${one}`, 'p');
    expect(rotated.currentKeyId).toBe('other');
    expect(rotated.open(old.seal('text', 'c'), 'c')).toBe('text');
    expect(rotated.verify('message', old.sign('message'))).toBe(true);
    expect(old.verify('message', rotated.sign('message'))).toBe(false);
    expect(() => old.open(rotated.seal('text', 'c'), 'c')).toThrow('other');
  });
});

test.each(['', 'nokey', 'a:', 'a:c2hvcnQ=', `${two},${two}`, `a b:${Buffer.alloc(32).toString('base64')}`])(
  '%j are no secret keys',
  (text) => expect(() => parseSecretKeys(text)).toThrow(ConfigError),
);
