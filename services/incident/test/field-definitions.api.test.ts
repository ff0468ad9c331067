import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { CustomFieldDefinition } from '@tocsin/contracts';
import type { Knex } from '@tocsin/runtime';
import { fieldDefinitions } from '../src/store/field-definitions.ts';
import { replicaStore } from '../src/store/replica-store.ts';
import { openOwnDatabase, startService, type TestService } from './service.ts';

let service: TestService;
let database: Knex;
let statements = 0;
beforeAll(async () => {
  service = await startService();
  database = openOwnDatabase(service);
  database.on('query', () => (statements += 1));
});
afterAll(async () => {
  await database.destroy();
  await service.stop();
});
beforeEach(async () => {
  await database('replica_fields').delete();
});

const define = async (workspaceId: number, version: number, options: string[]) => {
  const field: CustomFieldDefinition = {
    id: workspaceId,
    revision: version,
    name: 'Zone',
    slug: 'zone',
    field_type: 'select',
    required: false,
    required_on_creation: false,
    config: { options },
    sort_order: 1,
    created_at: '2026-11-20T09:00:00.000Z',
    archived_at: null,
  };
  await replicaStore(database, workspaceId).putFields([{ version, row: field }]);
};

/** Counts the statements of `work`. */
const cost = async (work: () => Promise<unknown>) => {
  statements = 0;
  await work();
  return statements;
};

test('a version is read once, and a newer one replaces it', async () => {
  const definitions = fieldDefinitions(database);
  await define(1, 1, ['eu']);
  expect(await cost(async () => definitions.get(1, 1))).toBe(1);
  expect(await cost(async () => definitions.get(1, 1))).toBe(0);
  await define(1, 2, ['us']);
  expect((await definitions.get(1, 2)).findBySlug('zone')?.config).toEqual({ options: ['us'] });
  expect(await cost(async () => definitions.get(1, 2))).toBe(0);
  // The older one is not cached, and reading it does not evict the newer one.
  expect(await cost(async () => definitions.get(1, 1))).toBe(1);
  expect(await cost(async () => definitions.get(1, 1))).toBe(1);
  expect(await cost(async () => definitions.get(1, 2))).toBe(0);
});

test('the cache of all workspaces has a limit in bytes', async () => {
  const options = Array.from({ length: 50 }, (_, index) => `option-${index}`.padEnd(200, '.'));
  const workspaces = [1, 2, 3, 4, 5, 6, 7, 8];
  for (const id of workspaces) await define(id, 1, options);
  // Each takes more than 10,000 characters of JSON, so a hundred thousand bytes never hold all eight.
  const definitions = fieldDefinitions(database, { bytes: 100_000 });
  for (const id of workspaces) await definitions.get(id, 1);
  expect(await cost(async () => definitions.get(8, 1))).toBe(0);
  expect(await cost(async () => definitions.get(1, 1))).toBe(1);
});

test('definitions above the limit are read each time and are correct', async () => {
  await define(1, 1, ['eu']);
  const definitions = fieldDefinitions(database, { bytes: 300 });
  for (let time = 0; time < 2; time += 1) {
    expect(await cost(async () => expect((await definitions.get(1, 1)).all).toHaveLength(1))).toBe(1);
  }
});
