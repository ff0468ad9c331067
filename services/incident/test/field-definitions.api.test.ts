import { beforeEach, expect, test } from '@jest/globals';
import { fieldDefinitions } from '../src/replicas/store/field-definitions.ts';
import { replicaStore } from '../src/replicas/store/replica-store.ts';
import { serviceForFile } from './service.ts';
import { aField } from './snapshots.ts';

let statements = 0;
const service = await serviceForFile();
const { knex: database } = service;
// Each statement takes a connection from the pool.
const client = database.client as { acquireConnection: () => Promise<unknown> };
const acquire = client.acquireConnection.bind(client);
client.acquireConnection = async () => {
  statements += 1;
  return acquire();
};
beforeEach(async () => {
  await database('replica_fields').delete();
});

const define = async (workspaceId: number, version: number, options: string[]) => {
  const config = { options };
  const field = aField(workspaceId, { revision: version, slug: 'zone', field_type: 'select', config });
  await replicaStore(database, workspaceId).putFields([{ version, row: field }]);
};

/** Counts the statements of `work`. */
const cost = async (work: () => Promise<unknown>) => {
  statements = 0;
  await work();
  return statements;
};

const UNCHANGED = 0;
/** The versions of the rows are read, and no definition. */
const COMPARED = 1;
const READ = 2;

test('a version is read once, and a newer one replaces it', async () => {
  const definitions = fieldDefinitions(database);
  await define(1, 1, ['eu']);
  expect(await cost(async () => definitions.get(1, 1))).toBe(READ);
  expect(await cost(async () => definitions.get(1, 1))).toBe(UNCHANGED);
  await define(1, 2, ['us']);
  expect((await definitions.get(1, 2)).findBySlug('zone')?.config).toEqual({ options: ['us'] });
  expect(await cost(async () => definitions.get(1, 2))).toBe(UNCHANGED);
  // Who knows an older version may have the newer one.
  expect(await cost(async () => definitions.get(1, 1))).toBe(UNCHANGED);
});

test('without a version, or with one that changed nothing here, only versions are compared', async () => {
  const definitions = fieldDefinitions(database);
  await define(1, 1, ['eu']);
  await definitions.get(1, undefined);
  expect(await cost(async () => definitions.get(1, undefined))).toBe(COMPARED);
  expect(await cost(async () => definitions.get(1, 7))).toBe(COMPARED);
  expect(await cost(async () => definitions.get(1, 7))).toBe(UNCHANGED);
  await define(1, 8, ['us']);
  expect((await definitions.get(1, undefined)).findBySlug('zone')?.config).toEqual({ options: ['us'] });
});

test('requests that come during a reading share the next one, which has all that was written before them', async () => {
  const definitions = fieldDefinitions(database);
  await define(1, 1, ['eu']);
  const first = definitions.get(1, undefined);
  await define(1, 2, ['us']);
  const reads = await cost(async () => {
    const shared = await Promise.all(Array.from({ length: 20 }, async () => definitions.get(1, 2)));
    for (const fields of shared) expect(fields.findBySlug('zone')?.config).toEqual({ options: ['us'] });
  });
  await first;
  expect(reads).toBeLessThanOrEqual(2 * READ);
});

test('the cache of all workspaces has a limit in bytes', async () => {
  const options = Array.from({ length: 50 }, (_, index) => `option-${index}`.padEnd(200, '.'));
  const workspaces = [1, 2, 3, 4, 5, 6, 7, 8];
  for (const id of workspaces) await define(id, 1, options);
  // Each takes more than 10,000 characters of JSON, so sixty thousand bytes never hold all eight.
  const definitions = fieldDefinitions(database, { bytes: 60_000 });
  for (const id of workspaces) await definitions.get(id, 1);
  expect(await cost(async () => definitions.get(8, 1))).toBe(UNCHANGED);
  expect(await cost(async () => definitions.get(1, 1))).toBe(READ);
});

test('definitions above the limit are read each time and are correct', async () => {
  await define(1, 1, ['eu']);
  const definitions = fieldDefinitions(database, { bytes: 300 });
  for (let time = 0; time < 2; time += 1) {
    expect(await cost(async () => expect((await definitions.get(1, 1)).all).toHaveLength(1))).toBe(READ);
  }
});
