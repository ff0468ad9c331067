import { describe, expect, test } from '@jest/globals';
import { ConfigError, deriveSecretKeys, generateSecretKeys, openKeyring, parseSecretKeys } from '../src/index.ts';

const one = generateSecretKeys();
const two = `other:${Buffer.alloc(32, 7).toString('base64')}`;

describe('encryption', () => {
  test('is opened with the same purpose and context only', () => {
    const ring = openKeyring(one, 'webhook-secret');
    const sealed = ring.seal('whsec_é', 'subscription 7');
    expect(sealed.ciphertext.toString('latin1')).not.toContain('whsec');
    expect(ring.open(sealed, 'subscription 7')).toBe('whsec_é');
    expect(() => ring.open(sealed, 'subscription 8')).toThrow();
    expect(() => openKeyring(one, 'slack-token').open(sealed, 'subscription 7')).toThrow();
  });

  test('never returns the same ciphertext twice, and detects a changed one', () => {
    const ring = openKeyring(one, 'p');
    const sealed = ring.seal('text', 'c');
    expect(ring.seal('text', 'c').ciphertext).not.toEqual(sealed.ciphertext);
    sealed.ciphertext[sealed.ciphertext.length - 1]! ^= 1;
    expect(() => ring.open(sealed, 'c')).toThrow();
  });
});

describe('rotating keys', () => {
  test('a new first key encrypts and signs; the old ones still decrypt and verify', () => {
    const old = openKeyring(one, 'p');
    const rotated = openKeyring(`${two},${one}`, 'p');
    expect(rotated.currentKeyId).toBe('other');
    expect(rotated.open(old.seal('text', 'c'), 'c')).toBe('text');
    expect(rotated.verify('message', old.sign('message'))).toBe(true);
    expect(old.verify('message', rotated.sign('message'))).toBe(false);
    expect(() => old.open(rotated.seal('text', 'c'), 'c')).toThrow('other');
  });
});

describe('leaf keys', () => {
  const roots = `${two},${one}`;

  test('decrypt and sign like the root keys for their purpose, and like earlier releases', () => {
    const leaves = openKeyring(deriveSecretKeys(roots, ['p', 'a/b/c']), 'p');
    const ring = openKeyring(roots, 'p');
    expect(leaves.currentKeyId).toBe('other');
    expect(leaves.open(ring.seal('text', 'c'), 'c')).toBe('text');
    expect(leaves.open(openKeyring(one, 'p').seal('text', 'c'), 'c')).toBe('text');
    expect(leaves.sign('message')).toEqual(ring.sign('message'));
    // Encrypted and signed by the first release with this key.
    const ciphertext = Buffer.from('f5XK2B9A0AYoTyxNLLtiuX4g/OaFyw+Fal11SZ02WME=', 'base64');
    expect(leaves.open({ keyId: 'other', ciphertext }, 'c')).toBe('text');
    expect(leaves.sign('message').toString('base64')).toBe('7a0VFeyIDVjKg/rURnNonA5uiLKrq4axZBlGGKUCIbo=');
  });

  test('serve no other purpose and do not contain the root keys', () => {
    const leaves = deriveSecretKeys(roots, ['p', 'a/b/c']);
    expect(() => openKeyring(leaves, 'q')).toThrow('TOCSIN_SECRET_KEYS: holds no key for q');
    expect(() => deriveSecretKeys(leaves, ['q'])).toThrow('holds no key for q');
    expect(deriveSecretKeys(leaves, ['p'])).toBe(deriveSecretKeys(roots, ['p']));
    for (const [, key = ''] of roots.matchAll(/:([^,]+)/g)) expect(leaves).not.toContain(key);
  });
});

test.each([
  '',
  'nokey',
  `a:${'A'.repeat(43)}=:b`,
  `a/p:${Buffer.alloc(33).toString('base64')}`,
  `a/P:${Buffer.alloc(32).toString('base64')}`,
  `a/:${Buffer.alloc(32).toString('base64')}`,
  `${two},other/p:${Buffer.alloc(32).toString('base64')}`,
  `other/p:${Buffer.alloc(32).toString('base64')},${two}`,

  'a:',
  'a:c2hvcnQ=',
  `${two},${two}`,
  `a b:${Buffer.alloc(32).toString('base64')}`,
])('%j is rejected', (text) => expect(() => parseSecretKeys(text)).toThrow(ConfigError));
