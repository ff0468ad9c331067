import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { asUser, eventually, httpClient } from '@tocsin/testing';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile, startService, type TestService } from '../service.ts';

const INCIDENTS = '/api/v1/incidents';

const service = await serviceForFile({}, { REPLICA_WAIT_MS: '800' });
afterEach(() => {
  service.owners.holdAfterPage = undefined;
  service.owners.pageSize = 2_000;
  service.owners.silentFor.clear();
  service.owners.failingFor.clear();
});

/** A workspace with fields of which the last one is required; the service has none of them yet. */
async function workspaceWithFields(count: number, of = service) {
  const workspace = freshWorkspace(of);
  for (let number = 1; number < count; number += 1) await workspace.define({ slug: `field_${number}` });
  const last = await workspace.define({ slug: 'last', required_on_creation: true });
  const create = async (client = workspace.client) => client.post(INCIDENTS, { title: 'x' });
  return { ...workspace, last, create };
}

const positionsOf = (workspaceId: number) =>
  service.owners
    .queriesOf(workspaceId)
    .filter((query) => query.includes('after='))
    .map((query) => Number(query.split('.').at(-1)));

describe('a pull of many pages', () => {
  test('reads each page once', async () => {
    const { id, create } = await workspaceWithFields(7);
    service.owners.pageSize = 2;
    await eventually(async () => (await create()).status === 400, { what: 'the last page' });
    expect(positionsOf(id).slice(0, 3)).toEqual([2, 4, 6]);
  });

  test('that takes longer goes on after the request, which nothing refuses', async () => {
    const { create, client } = await workspaceWithFields(5);
    Object.assign(service.owners, { pageSize: 2, holdAfterPage: 1 });
    // Some pages are missing, so what the replica lacks is not enforced, and what it would refuse is 503.
    expect((await create()).status).toBe(201);
    const unknown = { title: 'x', custom_field_values: [{ field_id: 999_999, value: 'v' }] };
    expect(await client.post(INCIDENTS, unknown)).toMatchObject({ status: 503 });
    service.owners.holdAfterPage = undefined;
    await eventually(async () => (await create()).status === 400, { what: 'the last page' });
    expect((await client.post(INCIDENTS, unknown)).status).toBe(400);
  });

  test('continues in another process where it was interrupted', async () => {
    const { id, create } = await workspaceWithFields(9);
    Object.assign(service.owners, { pageSize: 2, holdAfterPage: 3 });
    const first = await service.startProcess();
    const asUserOf = (url: string) => httpClient(url, asUser('incident', { workspace: { id } }));
    expect((await create(asUserOf(first.url))).status).toBe(201);
    expect(positionsOf(id)).toEqual([2, 4, 6]);
    const stopped = first.stop();
    service.owners.holdAfterPage = undefined;
    await stopped;
    const second = await service.startProcess();
    await eventually(async () => (await create(asUserOf(second.url))).status === 400, { what: 'the last page' });
    // It asked again for the page without a response at most.
    expect(
      positionsOf(id)
        .slice(3)
        .every((position) => position >= 6),
    ).toBe(true);
    await second.stop();
  });

  test('is stored page by page', async () => {
    const { id, create } = await workspaceWithFields(5);
    Object.assign(service.owners, { pageSize: 2, holdAfterPage: 1 });
    await create();
    const { knex: database } = service;
    const stored = async () => (await database('replica_fields').where({ workspace_id: id }).select('id')).length;
    expect(await stored()).toBe(2);
    const [row] = await database('replica_versions')
      .where({ workspace_id: id, owner: 'custom_field' })
      .select('position');
    expect(row).toMatchObject({ position: '5.0.2' });
    service.owners.holdAfterPage = undefined;
    await eventually(async () => (await stored()) === 5, { what: 'all fields' });
  });
});

describe.each(['silentFor', 'failingFor'] as const)('an owner that is %s one workspace', (how) => {
  let patient: TestService;
  beforeAll(async () => void (patient = await startService()));
  afterAll(async () => patient.stop());

  test('serves the others: what is invalid is refused as such, and new definitions apply', async () => {
    const [broken, other] = [await workspaceWithFields(2, patient), await workspaceWithFields(2, patient)];
    await eventually(async () => (await other.create()).status === 400, { what: 'the definitions' });
    patient.owners[how].add(broken.id);
    const unknown = { title: 'x', custom_field_values: [{ field_id: 999_999, value: 'v' }] };
    // Enough failures in a short time for every circuit breaker.
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all([1, 2, 3, 4].map(async () => broken.client.post(INCIDENTS, unknown)));
      for (const { status } of answers) expect(status).toBe(503);
      expect((await other.create()).status).toBe(400);
      await other.redefine(other.last.id, { name: `Round ${round}` });
      expect((await other.client.post(INCIDENTS, unknown)).status).toBe(400);
    }
    patient.owners[how].clear();
    await eventually(async () => (await broken.create()).status === 400, { what: 'the definitions' });
  });
});
