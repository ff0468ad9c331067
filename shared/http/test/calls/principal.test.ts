import { mock } from 'node:test';
import { afterEach, describe, expect, test } from '@jest/globals';
import { deriveSecretKeys, openKeyring } from '@tocsin/runtime';
import { testPrincipal } from '@tocsin/testing';
import { openPrincipalVerifier, principalPurpose, signPrincipal } from '../../src/index.ts';

const ROOT = `root:${Buffer.alloc(32, 3).toString('base64')}`;
const verifierOf = (audience: string, secretKeys = ROOT) =>
  openPrincipalVerifier({ secretKeys, audience, callers: ['catalog', 'webhook'] });
const incident = verifierOf('incident');
const keyringBetween = (issuer: string, audience: string) => openKeyring(ROOT, principalPurpose(issuer, audience));
const gateway = keyringBetween('gateway', 'incident');

afterEach(() => mock.timers.reset());

/** Signs any payload with one of our keys. */
function craft(payload: unknown, keyring = gateway): string {
  const text = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)).toString('base64url');
  return `${text}.${keyring.sign(text).toString('base64url')}`;
}

describe('a principal', () => {
  const header = signPrincipal(gateway, testPrincipal());
  const [payload = '', signature = ''] = header.split('.');

  test('contains the user and its rights', () => {
    expect(incident.user(header)).toEqual(testPrincipal());
  });

  test('is valid only for the service that it was signed for', () => {
    for (const other of ['catalog', 'custom-field', 'webhook']) expect(verifierOf(other).user(header)).toBeUndefined();
  });

  test('of a user is valid only from the gateway, and one of a service only from that service', () => {
    const catalog = keyringBetween('catalog', 'incident');
    expect(incident.user(signPrincipal(catalog, testPrincipal()))).toBeUndefined();
    expect(incident.user(signPrincipal(gateway, { kind: 'service' }))).toBeUndefined();
    expect(incident.service(signPrincipal(catalog, testPrincipal()), ['catalog'])).toBeUndefined();
    const serviceHeader = signPrincipal(catalog, { kind: 'service' });
    expect(incident.service(serviceHeader, ['catalog'])).toBe('catalog');
    expect(incident.service(serviceHeader, ['webhook'])).toBeUndefined();
    expect(incident.service(header, ['catalog', 'webhook'])).toBeUndefined();
    expect(verifierOf('gateway').service(serviceHeader, ['catalog'])).toBeUndefined();
  });

  test.each([
    ['nothing', undefined],
    ['an empty one', ''],
    ['a trailing part', `${header}.`],
    ['a trailing part with text', `${header}.e30`],
    ['a leading part', `.${header}`],
    ['padding of the signature', `${payload}.${signature}=`],
    ['padding of the payload', `${payload}=.${signature}`],
    ['the other alphabet', `${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}+`],
    ['blanks', `${payload}. ${signature}`],
    ['unused bits that are set', `${payload}.${signature.slice(0, -1)}${nextOf(signature.at(-1) ?? '')}`],
    ['no signature', `${payload}.`],
    ['no payload', `.${signature}`],
    ['one part', payload],
    ['signed text that is not JSON', craft('{')],
    ['signed text of another shape', craft({ principal: { kind: 'user' }, expires: Date.now() + 1_000 })],
  ])('in any other form is invalid: %s', (_what, text) => {
    expect(incident.user(text)).toBeUndefined();
    // The cache does not change that.
    expect(incident.user(header)).toBeDefined();
    expect(incident.user(text)).toBeUndefined();
  });

  test('is valid for at most 70 seconds, whatever was signed', () => {
    mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-20T00:00:00Z') });
    const until = (seconds: number) =>
      craft({ principal: testPrincipal(), expires: Date.parse('2026-11-20T00:00:00Z') + seconds * 1_000 });
    expect(incident.user(until(70))).toBeDefined();
    for (const seconds of [71, 3_600, 10 ** 9, 0, -1]) expect(incident.user(until(seconds))).toBeUndefined();
  });

  test('that is cached is valid until it expires and no longer', () => {
    mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-20T00:00:00Z') });
    const fresh = signPrincipal(gateway, testPrincipal());
    const first = incident.user(fresh);
    expect(incident.user(fresh)).toBe(first);
    // Requests share the object, so it is frozen.
    expect(() => Object.assign(first?.workspace ?? {}, { id: 2 })).toThrow(TypeError);
    mock.timers.tick(39_000);
    expect(incident.user(fresh)).toBe(first);
    mock.timers.tick(1_000);
    expect(incident.user(fresh)).toBeUndefined();
  });

  test('is verified by a service that has only leaf keys, and after a key rotation', () => {
    const purposes = [principalPurpose('gateway', 'incident'), principalPurpose('catalog', 'incident')];
    const leaves = deriveSecretKeys(`new:${Buffer.alloc(32, 4).toString('base64')},${ROOT}`, purposes);
    const verifier = openPrincipalVerifier({ secretKeys: leaves, audience: 'incident', callers: ['catalog'] });
    expect(verifier.user(header)).toBeDefined();
    expect(() => verifierOf('incident', leaves)).toThrow('TOCSIN_SECRET_KEYS: holds no key for principal/webhook');
    expect(() => openKeyring(leaves, principalPurpose('gateway', 'catalog'))).toThrow('holds no key');
  });
});

/** The next character of the alphabet. The last character of 32 encoded bytes has two unused bits. */
function nextOf(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(character) + 1] ?? '';
}
