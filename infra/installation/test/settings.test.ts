import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { SERVER_VARIABLES } from '@tocsin/testing';
import { parse } from 'yaml';
import { APP_NAMES, APPS } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { embeddedConfig } from '../../embedded/config.ts';
import { localConfig } from '../../processes/config.ts';
import { migrateConfig } from '../../migrate/config.ts';
import { readSettings } from '../../verification/systems/read-settings.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const example = read('.env.example');

/** An address for every app, so that no reader fails because one is missing. */
const ADDRESSES = Object.fromEntries(APP_NAMES.map((name) => [APPS[name].addressVariable, 'http://127.0.0.1:1']));

/** The other readers of the environment. */
const COMMANDS = [embeddedConfig, localConfig, migrateConfig];
const OF_TESTS = [
  'TOCSIN_TEST_SERVERS',
  'TOCSIN_TEST_PGBOUNCER',
  'TOCSIN_TEST_POOLED',
  ...Object.values(SERVER_VARIABLES),
].filter(
  // Each test run sets it itself.
  (name) => name !== SERVER_VARIABLES.runId,
);

test('.env.example has every setting that something reads, and no other', async () => {
  const readers = [...APP_NAMES.map((name) => APPS[name].readConfig), ...COMMANDS];
  const names = new Set(OF_TESTS);
  for (const reader of readers) {
    for (const name of readSettings(reader, ADDRESSES).names) names.add(name);
  }
  for (const [, name = ''] of read('docker-compose.yml').matchAll(/\$\{(\w+)/g)) names.add(name);
  const documented = [...example.matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name);
  // The names of the proxy in lower case, which other programs use, are in the guide.
  expect(documented.toSorted()).toEqual([...names].filter((name) => !/^(?:https|no)_proxy$/.test(name)).toSorted());
});

test('make services registers the servers that it uses for commands, including defaults', () => {
  const defaults = Object.fromEntries(
    [...example.matchAll(/^#(DATABASE_URL|AMQP_URL|REDIS_URL)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(Object.keys(defaults)).toHaveLength(3);
  expect(localConfig({}).servers).toEqual(defaults);
  const own = { ...defaults, DATABASE_URL: 'postgres://elsewhere/tocsin' };
  expect(localConfig({ DATABASE_URL: own.DATABASE_URL, AMQP_URL: '' }).servers).toEqual(own);
});

const NUMBERS = Object.fromEntries(
  [...example.matchAll(/^#([A-Z_]+)=(\d+)$/gm)].map(([, name = '', value = '']) => [name, value]),
);

test.each(APP_NAMES)('the numbers in .env.example are the defaults of %s', (name) => {
  const { readConfig } = APPS[name];
  const fixed = { ...ADDRESSES, TOCSIN_SECRET_KEYS: 'k:x' };
  // The port of a service that is started alone is chosen by the system.
  const { PORT, ...numbers } = NUMBERS;
  expect(Object.keys(numbers).length).toBeGreaterThan(30);
  expect(readConfig({ ...fixed, ...numbers })).toEqual(readConfig(fixed));
  expect(PORT).toBe('8080');
});

test('the numbers of limits in Kubernetes are those of .env.example', () => {
  const { data } = parse(read('infra/kubernetes/settings/settings.yaml')) as { data: Record<string, string> };
  // Its load balancers notice later than others that a pod stops.
  const own = ['DRAIN_SECONDS'];
  const limits = Object.entries(data).filter(([name, value]) => /^\d+$/.test(value) && !own.includes(name));
  expect(limits.length).toBeGreaterThan(25);
  expect(Object.fromEntries(limits)).toEqual(Object.fromEntries(limits.map(([name]) => [name, NUMBERS[name]])));
});

/** What a reader says about a value that is no number. */
function rangeOf(name: string): string | undefined {
  for (const app of APP_NAMES) {
    try {
      APPS[app].readConfig({ ...ADDRESSES, TOCSIN_SECRET_KEYS: 'k:x', [name]: 'x' });
    } catch (error) {
      return /^\S+ must be a whole number from (\d+ to \d+)$/.exec((error as Error).message)?.[1];
    }
  }
  return undefined;
}

test('the guide has the default and the range of each limit', () => {
  const [, section = ''] = /\n## Limits\n([^]*?)\n## /.exec(read('docs/guides/operations-reference.md')) ?? [];
  const rows = [...section.matchAll(/^\| `([A-Z_]+)` +\| (\d+) +\| (\d+ to \d+) +\|/gm)];
  const others = [
    'PORT',
    'METRICS_PORT',
    'INTERNAL_PORT',
    'PROMETHEUS_PORT',
    'ALERTMANAGER_PORT',
    'PROXY_PORT',
    'BACKUP_KEEP',
    'GRAFANA_PORT',
    'RECEIVER_PORT',
    'REPLICAS',
    'TOCSIN_DEMO',
  ];
  const limits = Object.entries(NUMBERS).filter(([name]) => !others.includes(name));
  expect(rows.map(([, name, number, range]) => [name, number, range]).toSorted()).toEqual(
    limits.map(([name, number]) => [name, number, rangeOf(name)]).toSorted(),
  );
});
