import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { databaseSettings, ownDatabaseUrl } from '@tocsin/postgres';
import {
  brokerSettings,
  ConfigError,
  deriveSecretKeys,
  generateSecretKeys,
  processSettings,
  readConfig,
  redisSettings,
  setting,
  withFileSettings,
  workspaceUrl,
} from '../src/index.ts';

const shape = {
  ...processSettings,
  ...databaseSettings,
  PEERS: setting.list.default([]),
  PEER_URL: setting.url(['http:']),
};
const enough = { TOCSIN_SECRET_KEYS: 'k:x', PEER_URL: 'http://peer' };

describe('settings', () => {
  test('have defaults, and an empty variable counts as unset', () => {
    expect(readConfig(shape, { ...enough, PORT: '', LOG_LEVEL: '' })).toMatchObject({
      PORT: 0,
      LOG_LEVEL: 'info',
      PEERS: [],
    });
  });

  test.each([
    ['AMQP_URL', 'amqp://broker?heartbeat=5&frameMax=8192', 'cacertfile=/ca.pem', 'cacertfile'],
    ['REDIS_URL', 'redis://cache?db=2', 'sentinelMasterId=one', 'sentinelMasterId'],
  ])('%s has no parameters that would be ignored', (name, accepted, ignored, refused) => {
    const servers = { ...brokerSettings, ...redisSettings };
    expect(readConfig(servers, { [name]: accepted })).toMatchObject({ [name]: accepted });
    expect(() => readConfig(servers, { [name]: `${accepted}&${ignored}` })).toThrow(
      `${name}: must not have ${refused}, which is not supported`,
    );
  });

  test('several hosts are separated by commas', () => {
    const servers = { ...brokerSettings, ...redisSettings, DATABASE_URL: databaseSettings.DATABASE_URL };
    const hosts = {
      AMQP_URL: 'amqp://a:b@one:5672,two',
      REDIS_URL: 'redis-sentinel://:c@one:26379,two/0?master=tocsin',
      DATABASE_URL: 'postgres://a@one,two:5433/tocsin',
    };
    expect(readConfig(servers, hosts)).toEqual(hosts);
    for (const url of ['redis://one,two', 'redis://one?master=tocsin']) {
      expect(() => readConfig(redisSettings, { REDIS_URL: url })).toThrow(
        /^REDIS_URL: must have one host, or be redis-sentinel/,
      );
    }
    expect(() => readConfig(servers, { AMQP_URL: 'amqp://one:x,two' })).toThrow(/^AMQP_URL: must be a URL/);
    const production = { ...hosts, NODE_ENV: 'production' };
    expect(() => readConfig(servers, { ...production, AMQP_URL: 'amqp://127.0.0.1,two' })).toThrow(
      /^AMQP_URL: is the user that every RabbitMQ comes with/,
    );
    expect(() =>
      readConfig(servers, { ...production, DATABASE_URL: 'postgres://a:development-only@one,two/t' }),
    ).toThrow(/^DATABASE_URL: is a default/);
  });

  test('numbers have a range, which the error names', () => {
    const numbers = { COUNT: setting.integer({ min: 2, max: 40 }).default(7) };
    expect(readConfig(numbers, {})).toEqual({ COUNT: 7 });
    for (const text of ['2', '40']) expect(readConfig(numbers, { COUNT: text })).toEqual({ COUNT: Number(text) });
    for (const text of ['1', '41', '2.5', '-3', '0x10', '1e1', ' 7', 'seven', '9'.repeat(400)]) {
      expect(() => readConfig(numbers, { COUNT: text })).toThrow(/^COUNT: must be a whole number from 2 to 40$/);
    }
  });

  test.each([
    ['https://{workspace}.tocsin.example.com', 'https://acme.tocsin.example.com'],
    ['HTTPS://{workspace}.Tocsin.example.com:443/', 'https://acme.tocsin.example.com'],
    ['http://tocsin.example.com:8080', 'http://tocsin.example.com:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('the public address %s of acme is %s', (address, expected) => {
    const { PUBLIC_URL } = readConfig({ PUBLIC_URL: setting.publicUrl }, { PUBLIC_URL: address });
    expect(workspaceUrl(PUBLIC_URL, 'acme')).toBe(expected);
  });

  test.each([
    ...[
      'tocsin.example.com',
      'ftp://tocsin.example.com',
      'https://',
      'https://{workspace}',
      'https://a.{workspace}.com',
    ],
    ...['https://{workspace}.{workspace}.com', 'https://{slug}.example.com', 'https://{workspace}.192.0.2.1'],
    ...['https://a.example/app', 'https://a.example?', 'https://a.example#a', 'https://ana:x@a.example'],
    ...['https://a.example:99999', 'https://a b.example', String.raw`https://a.example\b`],
  ])('no public address is %s', (address) => {
    expect(() => readConfig({ PUBLIC_URL: setting.publicUrl }, { PUBLIC_URL: address })).toThrow(
      /^PUBLIC_URL: must be http:\/\/ or https:\/\/ and a host, with nothing behind it: [^\n]+$/,
    );
  });

  test('may contradict each other, which is checked when each of them is valid', () => {
    const { COUNT } = { COUNT: setting.integer({ min: 1, max: 9 }).default(1) };
    const read = (env: Record<string, string>) =>
      readConfig({ MIN: COUNT, MAX: COUNT }, env, ({ MIN, MAX }) =>
        MIN > MAX ? [`MIN: must be at most MAX (${MAX})`] : [],
      );
    expect(read({ MIN: '2', MAX: '3' })).toEqual({ MIN: 2, MAX: 3 });
    expect(() => read({ MIN: '2' })).toThrow(/^MIN: must be at most MAX \(1\)$/);
    expect(() => read({ MIN: '2', MAX: '0' })).toThrow(/^MAX: must be a whole number from 1 to 9$/);
  });

  test('are converted', () => {
    expect(readConfig(shape, { ...enough, PORT: '8080', PEERS: 'a, b,,' })).toMatchObject({
      PORT: 8080,
      PEERS: ['a', 'b'],
    });
  });

  test('an error names every invalid variable, and never a value', () => {
    const read = () => readConfig(shape, { PORT: 'eighty', DATABASE_URL: 'mysql://root:hunter2@db/x' });
    expect(read).toThrow(ConfigError);
    try {
      read();
    } catch (error) {
      const { message } = error as ConfigError;
      for (const name of ['PORT', 'DATABASE_URL', 'TOCSIN_SECRET_KEYS: is not set', 'PEER_URL: is not set']) {
        expect(message).toContain(name);
      }
      expect(message).not.toContain('hunter2');
    }
  });
});

const secrets = {
  ...processSettings,
  ...brokerSettings,
  ...redisSettings,
  ...databaseSettings,
  GATEWAY_DATABASE_URL: ownDatabaseUrl,
};

describe('a secret in a file', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-settings-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string) => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const keys = generateSecretKeys();
  const given = {
    TOCSIN_SECRET_KEYS_FILE: file('keys', `${keys}\n`),
    AMQP_URL: '',
    AMQP_URL_FILE: file('amqp', 'amqp://a:b@broker'),
    REDIS_URL_FILE: '',
    GATEWAY_DATABASE_URL_FILE: file('gateway', 'postgres://g:b@db/tocsin'),
  };

  test('is read from the file', () => {
    expect(readConfig(secrets, given)).toMatchObject({
      TOCSIN_SECRET_KEYS: keys,
      AMQP_URL: 'amqp://a:b@broker',
      REDIS_URL: 'redis://127.0.0.1:6379',
      GATEWAY_DATABASE_URL: 'postgres://g:b@db/tocsin',
    });
    expect(withFileSettings({ ...given, PATH: '/bin', LOG_FILE: 'kept' })).toEqual({
      TOCSIN_SECRET_KEYS: keys,
      AMQP_URL: 'amqp://a:b@broker',
      REDIS_URL_FILE: '',
      GATEWAY_DATABASE_URL: 'postgres://g:b@db/tocsin',
      PATH: '/bin',
      LOG_FILE: 'kept',
    });
  });

  test.each([
    ['does not exist', { AMQP_URL_FILE: path.join(folder, 'nothing') }, 'AMQP_URL_FILE: cannot read the file (ENOENT)'],
    ['is a folder', { AMQP_URL_FILE: folder }, 'AMQP_URL_FILE: cannot read the file (EISDIR)'],
    ['is empty', { AMQP_URL_FILE: file('empty', ' \n') }, 'AMQP_URL_FILE: the file is empty'],
    ['is endless', { AMQP_URL_FILE: '/dev/zero' }, 'AMQP_URL_FILE: the file has more than 65536 bytes'],
    [
      'is set together with a value',
      { AMQP_URL: 'amqp://x', AMQP_URL_FILE: file('beside', 'y') },
      'AMQP_URL_FILE: must not be set together with AMQP_URL',
    ],
    ['holds no URL', { AMQP_URL_FILE: file('words', 'hunter2') }, 'AMQP_URL: must be a URL'],
  ])('that %s is reported with the name of its setting', (_what, env, message) => {
    const read = () => readConfig(secrets, { TOCSIN_SECRET_KEYS: keys, ...env });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
    expect(read).not.toThrow('hunter2');
  });
});

describe('a published secret', () => {
  const published = 'development:dGhpcyBrZXkgaXMgZm9yIGRldmVsb3BtZW50IG9ubHk=';
  const own = generateSecretKeys();
  const fine = {
    TOCSIN_SECRET_KEYS: own,
    AMQP_URL: 'amqp://tocsin:word@broker',
    REDIS_URL: 'redis://:word@redis',
    DATABASE_URL: 'postgres://postgres:word@db/tocsin',
  };
  const DEFAULT = 'is a default that everybody can read';

  test.each([
    ['the key of docker-compose.yml', { TOCSIN_SECRET_KEYS: published }, `TOCSIN_SECRET_KEYS: ${DEFAULT}`],
    ['the same next to another', { TOCSIN_SECRET_KEYS: `${own},${published}` }, `TOCSIN_SECRET_KEYS: ${DEFAULT}`],
    ['the same under another name', { TOCSIN_SECRET_KEYS: published.replace(/^\w+/, 'k1') }, DEFAULT],
    ['a leaf key of it', { TOCSIN_SECRET_KEYS: deriveSecretKeys(published, ['cursor']) }, DEFAULT],
    ['a database password', { DATABASE_URL: 'postgres://postgres:development-only@db/x' }, `DATABASE_URL: ${DEFAULT}`],
    ["a role's password", { GATEWAY_DATABASE_URL: 'postgres://g:REPLACE@db/x' }, `GATEWAY_DATABASE_URL: ${DEFAULT}`],
    ["the broker's password", { AMQP_URL: 'amqp://tocsin:development-only@broker' }, `AMQP_URL: ${DEFAULT}`],
    ["the cache's password", { REDIS_URL: 'redis://:development-only@redis' }, `REDIS_URL: ${DEFAULT}`],
    [
      "the broker's default user",
      { AMQP_URL: 'amqp://guest:guest@broker' },
      'AMQP_URL: is the user that every RabbitMQ',
    ],
    [
      "the broker's default user, by a URL without one",
      { AMQP_URL: 'amqp://broker' },
      'AMQP_URL: is the user that every RabbitMQ',
    ],
  ])('is rejected in production: %s', (_what, env, message) => {
    const read = (NODE_ENV: string) => () => readConfig(secrets, { ...fine, ...env, NODE_ENV });
    expect(read('production')).toThrow(ConfigError);
    expect(read('production')).toThrow(message);
    expect(read('production')).not.toThrow(/development-only|REPLACE/);
    expect(read('development')).not.toThrow();
  });

  test('is neither a secret of your own nor the default user of a broker on the same machine', () => {
    for (const AMQP_URL of [fine.AMQP_URL, 'amqp://guest:guest@127.0.0.1:5672', 'amqp://[::1]', 'amqp://localhost']) {
      expect(readConfig(secrets, { ...fine, AMQP_URL, NODE_ENV: 'production' })).toMatchObject({ AMQP_URL });
    }
  });
});
