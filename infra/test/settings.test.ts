import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { SERVER_VARIABLES } from '@tocsin/testing';
import { APP_NAMES, APPS } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { readSettings } from './read-settings.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const example = read('.env.example');

/** Addresses that every app could be asked for, so that none of them fails for want of one. */
const ADDRESSES = Object.fromEntries(APP_NAMES.map((name) => [APPS[name].address, 'http://127.0.0.1:1']));

/** What reads the environment besides the apps. */
const COMMANDS = ['embedded', 'local', 'migrate'].map((command) => `infra/${command}/config.ts`);
const OF_TESTS = ['TOCSIN_TEST_SERVERS', ...Object.values(SERVER_VARIABLES)].filter(
  // Made by each run for itself.
  (name) => name !== SERVER_VARIABLES.runId,
);

test('.env.example has every setting that something reads, and no other', async () => {
  const modules = [...APP_NAMES.map((name) => `${APPS[name].folder}/src/config.ts`), ...COMMANDS];
  const names = new Set(OF_TESTS);
  for (const module of modules) {
    for (const name of (await readSettings(module, ADDRESSES)).names) names.add(name);
  }
  for (const [, name = ''] of read('docker-compose.yml').matchAll(/\$\{(\w+)/g)) names.add(name);
  const documented = [...example.matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name);
  expect(documented.toSorted()).toEqual([...names].toSorted());
});

test('.env.example changes nothing when it is copied as it is', () => {
  expect(example.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
});

test('.env.example says of every setting, or of the group it is in, what it is for', () => {
  const groups = example.split(/\n\n|\n(?=# )/).filter((group) => /^#[A-Z]/m.test(group));
  expect(groups.length).toBeGreaterThan(20);
  for (const group of groups) expect(group).toMatch(/^# \S/);
});
