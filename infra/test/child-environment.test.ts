import { expect, test } from '@jest/globals';
import { type Environment, generateSecretKeys } from '@tocsin/runtime';
import { APP_NAMES, APPS, appEnvironments } from '../apps.ts';
import { childEnvironment } from '../processes/child-environment.ts';
import { deriveServiceKeys } from '../service-keys.ts';
import { readSettings } from './read-settings.ts';

const keys = generateSecretKeys();
const configured: Environment = {
  PATH: '/bin',
  TZ: 'UTC',
  NODE_OPTIONS: '--no-warnings',
  NODE_ENV: 'development',
  NODE_AUTH_TOKEN: 'npm',
  AWS_SECRET_ACCESS_KEY: 'aws',
  POSTGRES_PASSWORD: 'compose',
  TOCSIN_DATA_DIR: '/data',
  TOCSIN_SECRET_KEYS: keys,
  TOCSIN_NAMESPACE: 'mine',
  DATABASE_URL: 'postgres://postgres@db/tocsin',
  WEBHOOK_DATABASE_URL: 'postgres://hooks:word@other/hooks',
  AMQP_URL: 'amqp://broker',
  REDIS_URL: 'redis://redis',
  SLACK_API_URL: '',
};

test.each(APP_NAMES)('%s receives only its own settings', async (app) => {
  const appEnv = (await appEnvironments(configured))[app];
  const child = childEnvironment(app, appEnv);
  const { config, names } = readSettings(APPS[app].readConfig, appEnv);
  expect(config).toBeDefined();
  const system = ['PATH', 'TZ', 'NODE_OPTIONS'];
  expect(Object.keys(child).filter((name) => !names.has(name) && !system.includes(name))).toEqual([]);
  for (const name of system) expect(child[name]).toBe(configured[name]);

  const url =
    app === 'webhook' ? configured['WEBHOOK_DATABASE_URL'] : `postgres://tocsin_${app.replace('-', '_')}@db/tocsin`;
  expect(child[APPS[app].databaseVariable]).toBe(url);
  expect(Object.keys(child).filter((name) => name.endsWith('DATABASE_URL'))).toEqual([APPS[app].databaseVariable]);
  expect(child['TOCSIN_SECRET_KEYS']).toBe(deriveServiceKeys(keys, app));
  expect(child).toMatchObject({ TOCSIN_NAMESPACE: 'mine', AMQP_URL: 'amqp://broker', NODE_ENV: 'development' });
  expect('REDIS_URL' in child).toBe(app !== 'webhook');

  // It receives all other settings that it reads.
  const lost = [...names].filter((name) => appEnv[name] !== undefined && child[name] === undefined);
  expect(lost.filter((name) => name !== 'DATABASE_URL')).toEqual([]);
});
