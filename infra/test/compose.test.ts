import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Environment } from '@tocsin/runtime';
import { parse } from 'yaml';
import { APP_NAMES, APPS } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { addressesOfOwnMachine, databaseVariable, NOT_NEEDED, readSettings } from './read-settings.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const dockerfile = read('infra/Dockerfile');
/** What the images themselves set. */
const IMAGE: Environment = Object.fromEntries(
  [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, pairs = '']) =>
    pairs.split(' ').map((pair) => pair.split('=') as [string, string]),
  ),
);

interface Service {
  build?: { target: string };
  ports?: string[];
  environment: Environment;
  [key: string]: unknown;
}

// Every variable at its default, as on a machine that sets none.
const interpolated = (_key: unknown, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1') : value;
const { services } = parse(read('docker-compose.yml'), interpolated, { merge: true }) as {
  services: Record<string, Service>;
};
const service = (name: string) => services[name]!;

test('only the gateway can be reached from outside', () => {
  expect(Object.keys(services).filter((name) => service(name).ports !== undefined)).toEqual(['gateway']);
});

describe.each(APP_NAMES)('%s', (app) => {
  test('is given every setting that it reads, and nothing of it leads back to its own container', async () => {
    const { environment } = service(app);
    const env = { ...IMAGE, ...environment };
    const { config, names } = await readSettings(`${APPS[app].folder}/src/config.ts`, env);
    expect([...names].filter((name) => !(name in env) && !NOT_NEEDED.has(name))).toEqual([]);
    expect(addressesOfOwnMachine(config)).toEqual([]);
    expect(environment['NODE_ENV']).toBe('production');
  });

  test('is given the database of no other app', () => {
    const given = Object.keys(service(app).environment).filter((name) => name.endsWith('DATABASE_URL'));
    expect(given).toEqual([databaseVariable(app)]);
  });

  test('runs unprivileged on a file system that it cannot write, after the migrations', () => {
    expect(service(app)).toMatchObject({
      build: { target: app },
      init: true,
      read_only: true,
      cap_drop: ['ALL'],
      depends_on: { migrate: { condition: 'service_completed_successfully' } },
    });
    expect(dockerfile).toContain(`FROM runtime AS ${app}\n`);
  });
});

test('migrations reach every schema', async () => {
  const { environment } = service('migrate');
  const { config } = await readSettings('infra/migrate/config.ts', environment);
  const { targets } = config as { targets: { url: string }[] };
  const owned = APP_NAMES.map((app) => service(app).environment[databaseVariable(app)]);
  expect(targets.map(({ url }) => url).sort()).toEqual(owned.sort());
});

test('images install from the manifest of every package that the lock file knows', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { link?: boolean }> };
  const own = Object.keys(packages).filter((name) => name !== '' && !name.includes('node_modules/'));
  expect(own).toContain('shared/runtime');
  for (const name of own) expect(dockerfile).toContain(`COPY ${name}/package.json ${name}/\n`);
});
