import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { generateSecretKeys } from '@tocsin/runtime';
import { gatewayConfig } from '../../../gateway/src/config.ts';
import { APP_NAMES, APPS, appEnvironments, replicaEnvironments, SERVICE_NAMES } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { readSettings } from '../../verification/systems/read-settings.ts';

test.each(['0.0.0.0', '::', '192.0.2.1'])(
  'HOST=%s moves only the public address; internal servers stay on loopback addresses',
  async (HOST) => {
    const environments = await appEnvironments({
      HOST,
      INTERNAL_HOST: '192.0.2.2',
      TOCSIN_SECRET_KEYS: generateSecretKeys(),
    });
    const { http, internal } = gatewayConfig(environments.gateway);
    expect(http).toEqual({ host: HOST, port: 8080 });
    for (const name of APP_NAMES) {
      expect(environments[name]['GATEWAY_INTERNAL_URL']).toBe(`http://${internal.host}:${internal.port}`);
      if (name !== 'gateway') expect(environments[name]['HOST']).toBe('127.0.0.1');
    }
    expect(internal.host).toBe('127.0.0.1');
  },
);

test('several processes of each app know all addresses, and the gateways have public ports in a row', async () => {
  const environments = await replicaEnvironments({ PORT: '8090', TOCSIN_SECRET_KEYS: generateSecretKeys() }, 3);
  const configs = environments.gateway.map(gatewayConfig);
  expect(configs.map(({ http }) => http.port)).toEqual([8090, 8091, 8092]);
  expect(new Set(configs.map(({ internal }) => internal.port)).size).toBe(3);
  for (const { upstreams } of configs) {
    const own = environments.incident.map((env) => `http://127.0.0.1:${env['PORT']}`);
    expect(upstreams.incident).toEqual(own);
  }
});

test('the registry has every service of the repository', () => {
  const folders = readdirSync(path.join(ROOT, 'services')).map((name) => `services/${name}`);
  expect(SERVICE_NAMES.map((name) => APPS[name].folder).toSorted()).toEqual(folders.toSorted());
});

test.each(APP_NAMES)('the registry names the variables that %s reads, and the schema in its own folder', (app) => {
  const addresses = Object.fromEntries(APP_NAMES.map((name) => [APPS[name].addressVariable, 'http://127.0.0.1:1']));
  const { folder, schema, databaseVariable, listenVariables, usesRedis, readConfig } = APPS[app];
  const { names } = readSettings(readConfig, addresses);
  expect([...names]).toEqual(expect.arrayContaining([databaseVariable, listenVariables.host, listenVariables.port]));
  expect(names.has('REDIS_URL')).toBe(usesRedis);
  expect(path.relative(ROOT, schema.migrations)).toBe(`${folder}/migrations`);
});
