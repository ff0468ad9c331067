import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { SERVICE_CALLS } from '@tocsin/schemas';
import { generateSecretKeys, parseSecretKeys } from '@tocsin/runtime';
import { rootKeys } from '../../admin/root-keys.ts';
import { APP_NAMES, APPS } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { deriveServiceKeys, KEY_HOLDERS, type KeyHolder } from '../service-keys.ts';
import { readSettings } from '../../verification/systems/read-settings.ts';

const keys = generateSecretKeys();

/** The purposes for which a process has a key. */
const purposesOf = (holder: KeyHolder) =>
  [...parseSecretKeys(deriveServiceKeys(keys, holder)).keys()].map((name) => name.slice(name.indexOf('/') + 1));

const holdersOf = (purpose: string) => KEY_HOLDERS.filter((holder) => purposesOf(holder).includes(purpose)).toSorted();

describe('the keys of a process', () => {
  test('for calls between two apps are held only by these two', () => {
    const between = new Set(KEY_HOLDERS.flatMap(purposesOf).filter((purpose) => purpose.startsWith('principal/')));
    // The gateway calls every service and itself.
    expect(between.size).toBe(APP_NAMES.length + Object.values(SERVICE_CALLS).flat().length);
    for (const purpose of between) {
      const [, issuer = '', audience = ''] = purpose.split('/');
      expect(holdersOf(purpose)).toEqual([...new Set([issuer, audience])].toSorted());
    }
  });

  test.each([
    ['chat-token', ['admin', 'incident']],
    ['tracker-address', ['admin', 'incident']],
    ['api-token', ['gateway']],
    ['oidc', ['admin', 'gateway']],
    ['attachment-url', ['incident']],
    ['webhook-secret', ['webhook']],
    ['webhook-url', ['webhook']],
    ['on-call-source', ['catalog']],
    ['cursor', APP_NAMES.toSorted()],
  ])('for %s are held only by %j', (purpose, holders) => expect(holdersOf(purpose)).toEqual(holders));

  test.each(APP_NAMES.filter((name) => name !== 'gateway'))(
    '%s has keys for the apps whose addresses it reads',
    async (app) => {
      const addresses = Object.fromEntries(APP_NAMES.map((name) => [APPS[name].addressVariable, 'http://127.0.0.1:1']));
      const { names } = readSettings(APPS[app].readConfig, addresses);
      const asked = APP_NAMES.filter((other) => names.has(APPS[other].addressVariable));
      expect((SERVICE_CALLS[app] ?? []).toSorted()).toEqual(asked.toSorted());
    },
  );
});

describe('npm run secret-keys', () => {
  test('generates root keys', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['infra/admin/secret-keys.ts', 'generate'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    });
    expect([...parseSecretKeys(stdout.trim()).values()].map(({ length }) => length)).toEqual([32]);
  });

  test('derives the keys of a process', () => {
    expect(rootKeys(['derive', 'webhook'], { TOCSIN_SECRET_KEYS: keys })).toBe(deriveServiceKeys(keys, 'webhook'));
  });

  test.each([
    ['no command', [], {}, 'usage: '],
    ['an unknown process', ['derive', 'nobody'], { TOCSIN_SECRET_KEYS: keys }, 'usage: '],
    ['no keys', ['derive', 'webhook'], { TOCSIN_SECRET_KEYS: '' }, 'TOCSIN_SECRET_KEYS: is not set'],
    ['malformed keys', ['derive', 'webhook'], { TOCSIN_SECRET_KEYS: 'k' }, 'TOCSIN_SECRET_KEYS: must be'],
  ] as const)('reports %s', (_what, words, env, message) => {
    expect(() => rootKeys(words, env)).toThrow(message);
  });
});
