import { describe, expect, test } from '@jest/globals';
import { ConfigError, databaseSettings, processSettings, readConfig, setting, urlForRole } from '../src/index.ts';

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

  test('are converted', () => {
    expect(readConfig(shape, { ...enough, PORT: '8080', PEERS: 'a, b,,' })).toMatchObject({
      PORT: 8080,
      PEERS: ['a', 'b'],
    });
  });

  test('name every variable at fault, and never a value', () => {
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

test('the URL of a role keeps everything but the user', () => {
  expect(urlForRole('postgres://admin:s%40@db:5433/tocsin?sslmode=require', 'tocsin_incident')).toBe(
    'postgres://tocsin_incident:s%40@db:5433/tocsin?sslmode=require',
  );
});
