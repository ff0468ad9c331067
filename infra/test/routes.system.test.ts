import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Client, eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import type { ApiDescription } from '../../gateway/src/description.ts';
import { APPS, SERVICE_NAMES } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { startSystem, type System } from '../verification/systems/system.ts';

/** Two operations of the catalog; the gateway is of a release that had neither. */
const NEW_PATH = '/api/v1/configuration/service-tiers';
const NEW_OPERATION = '/api/v1/services/{id}/restore';
/** Milliseconds; much shorter than in production. */
const READS = { interval: 500, absentRounds: 240 };

/** The descriptions in the image of a gateway that is older than the services. */
async function olderDescriptions(): Promise<Record<string, ApiDescription>> {
  const read = async (folder: string) =>
    JSON.parse(await readFile(path.join(ROOT, folder, 'openapi.json'), 'utf8')) as ApiDescription;
  const all = Object.fromEntries(
    await Promise.all(
      SERVICE_NAMES.map(async (name): Promise<[string, ApiDescription]> => [name, await read(APPS[name].folder)]),
    ),
  );
  for (const added of [NEW_PATH, NEW_OPERATION]) {
    expect(all['catalog']?.paths).toHaveProperty([added]);
    Reflect.deleteProperty(all['catalog']?.paths ?? {}, added);
  }
  return all;
}

describeWithServers('a gateway that is older than a service', () => {
  let system: System;
  let client: Client;
  beforeAll(async () => {
    system = await startSystem({ gateway: { descriptions: await olderDescriptions(), descriptionTiming: READS } });
    client = await system.as();
  });
  afterAll(async () => system.stop());

  const documented = async () => (await client.get('/api/v1/openapi.json')).body.paths as Record<string, unknown>;

  test('forwards to the new operations of the running service, and documents them', async () => {
    await eventually(async () => (await client.get(NEW_PATH)).status === 200);
    const { body } = await client.post('/api/v1/services', { name: 'Checkout' });
    const { id } = body.service;
    await client.delete(`/api/v1/services/${id}`);
    expect((await client.post(`/api/v1/services/${id}/restore`)).status).toBe(200);
    await eventually(async () => Object.hasOwn(await documented(), NEW_OPERATION));
  });

  test('does not know them after a restart while the service is down, and learns them when it is up', async () => {
    await system.stopApp('gateway');
    await system.stopApp('catalog');
    await system.startApp('gateway');
    client = await system.as();
    expect((await client.get(NEW_PATH)).status).toBe(404);
    expect(await documented()).not.toHaveProperty([NEW_PATH]);
    expect((await client.get('/api/v1/teams')).status).toBe(503);
    expect((await client.get('/api/v1/incidents')).status).toBe(200);

    await system.startApp('catalog');
    await eventually(async () => (await client.get(NEW_PATH)).status === 200);
    await eventually(async () => Object.hasOwn(await documented(), NEW_PATH));
  });
});
