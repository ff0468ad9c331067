import { describe, expect, test } from '@jest/globals';
import { serviceTiers } from '../src/administration.ts';
import { eventually, refusal } from '@tocsin/testing';
import { configureTiers, create, newWorkspace, prepareTiers, serviceForFile } from './service.ts';

const service = await serviceForFile();

const PATH = '/api/v1/configuration/service-tiers';
const DEFAULT = [{ key: 'x', label: 'X', order: 0, is_default: true, description: '' }];
const T0 = [{ key: 't0', is_default: true }];

const later = (user: ReturnType<typeof newWorkspace>) =>
  service.as({ workspace: { ...user.workspace, version: user.workspace.version + 1 } });

describe('the tiers of a workspace', () => {
  test('are t0 to t3 from the start, t2 the default', async () => {
    const { status, body } = await service.as(newWorkspace()).get(PATH);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      service_tiers: [0, 1, 2, 3].map((order) => ({
        key: `t${order}`,
        label: `Tier ${order}`,
        order,
        is_default: order === 2,
        description: '',
      })),
    });
  });

  test('are the configured ones for the next request, in this workspace only', async () => {
    const user = newWorkspace();
    await service.as(user).get(PATH);
    const service_tiers = await configureTiers(service, user.workspace.id, [
      { key: 'gold', label: 'GOLD', description: 'Pays the bills' },
      { key: 'iron', is_default: true },
    ]);
    expect((await later(user).get(PATH)).body).toEqual({ service_tiers });
    expect((await create(later(user), 'service', { name: 's' })).tier).toBe('iron');
    expect(await later(user).post('/api/v1/services', { name: 's', tier: 't2' })).toMatchObject(
      refusal(400, 'invalid_request', { field: 'tier' }),
    );
    expect((await service.as(newWorkspace()).get(PATH)).body.service_tiers[0].key).toBe('t0');
  });

  test('are the present ones for a create, even if the gateway accepted the request before the change', async () => {
    const user = newWorkspace();
    await service.as(user).get(PATH);
    await configureTiers(service, user.workspace.id, [{ key: 'gold', is_default: true }]);
    expect((await create(service.as(user), 'service', { name: 's' })).tier).toBe('gold');
    expect((await service.as(user).post('/api/v1/services', { name: 's', tier: 't2' })).status).toBe(400);
  });

  test('keep each key that a service has, archived ones included', async () => {
    const user = newWorkspace();
    const { id } = await create(service.as(user), 'service', { name: 'Old Ledger', tier: 't3' });
    await service.as(user).delete(`/api/v1/services/${id}`);
    await create(service.as(user), 'service', { name: 'Another', tier: 't3' });
    await create(service.as(user), 'service', { name: 'Third', tier: 't1' });
    const { preparation } = await prepareTiers(service, user.workspace.id, T0);
    expect(preparation).toEqual({
      outcome: 'in_use',
      services: [
        { tier: 't1', slug: 'third', count: 1 },
        { tier: 't3', slug: 'another', count: 2 },
      ],
    });
    await configureTiers(service, user.workspace.id, [...T0, { key: 't1' }, { key: 't3' }]);
    const { body } = await later(user).get(PATH);
    expect(body.service_tiers.map(({ key }: { key: string }) => key)).toEqual(['t0', 't1', 't3']);
  });

  test('always include the key of every service, also when services are created concurrently', async () => {
    for (let round = 0; round < 10; round += 1) {
      const user = newWorkspace();
      service.internalServices.committedTiers.set(user.workspace.id, 1);
      const [prepared, ...created] = await Promise.all([
        prepareTiers(service, user.workspace.id, T0),
        ...Array.from({ length: 4 }, async () => service.as(user).post('/api/v1/services', { name: 's', tier: 't3' })),
      ]);
      const statuses = created.map(({ status }) => status);
      const keys = (await later(user).get(PATH)).body.service_tiers.map(({ key }: { key: string }) => key);
      if (prepared.preparation.outcome === 'prepared') {
        expect(keys).toEqual(['t0']);
        expect(statuses).toEqual([400, 400, 400, 400]);
      } else {
        expect(keys).toContain('t3');
        expect(new Set(statuses)).toEqual(new Set([201]));
      }
    }
  });

  test('raise the version that tells replicas that they are behind', async () => {
    const user = newWorkspace();
    const versionOf = async () =>
      (await service.knex('workspace_versions').where({ workspace_id: user.workspace.id }).first('version'))?.version;
    await configureTiers(service, user.workspace.id, T0);
    const prepared = await versionOf();
    await later(user).get(PATH);
    expect(await versionOf()).toBeGreaterThan(prepared);
    expect(await service.versions.read(['catalog'], user.workspace.id)).toEqual([await versionOf()]);
  });
});

describe('prepared tiers', () => {
  let version = 1;
  /** A process caches the tiers with the workspace's version. */
  const keysOf = async ({ workspace }: ReturnType<typeof newWorkspace>) =>
    (await service.as({ workspace: { ...workspace, version: (version += 1) } }).get(PATH)).body.service_tiers.map(
      ({ key }: { key: string }) => key,
    );
  const gold = [{ key: 'gold', is_default: true }];

  test('are removed if the incident service has not committed them', async () => {
    const user = newWorkspace();
    await prepareTiers(service, user.workspace.id, gold);
    expect(await keysOf(user)).toEqual(['t0', 't1', 't2', 't3']);
    await configureTiers(service, user.workspace.id, T0);
    expect(await keysOf(user)).toEqual(['t0']);
  });

  test('are the stored ones to read, and let no service take a tier, while the incident service is down', async () => {
    const user = newWorkspace();
    const made = await create(service.as(user), 'service', { name: 's' });
    const { commit } = await prepareTiers(service, user.workspace.id, [...gold, { key: 't2' }]);
    service.internalServices.down = true;
    expect(await keysOf(user)).toEqual(['t0', 't1', 't2', 't3']);
    const refused = refusal(503, 'service_unavailable');
    expect(await service.as(user).post('/api/v1/services', { name: 'x', tier: 't2' })).toMatchObject(refused);
    const path = `/api/v1/services/${made.id}`;
    const at1 = { 'If-Service-Resource-Version': '1' };
    expect(await service.as(user).patch(path, { tier: 't3' }, at1)).toMatchObject(refused);
    expect((await service.as(user).patch(path, { name: 'renamed' }, at1)).status).toBe(200);
    service.internalServices.down = false;
    commit();
    await eventually(async () => (await service.as(user).post('/api/v1/services', { name: 'x' })).status === 201);
    expect(await keysOf(user)).toEqual(['gold', 't2']);
  });

  test('are not replaced by a call that arrives late', async () => {
    const user = newWorkspace();
    await configureTiers(service, user.workspace.id, T0);
    const owner = serviceTiers(service.knex, user.workspace.id);
    const late = { read_version: 0, committed_version: 0, version: 1, tiers: DEFAULT };
    expect(await owner.prepare(late)).toEqual({ outcome: 'changed_since' });
    expect(await keysOf(user)).toEqual(['t0']);
  });

  test('may be prepared twice by the same call', async () => {
    const user = newWorkspace();
    const owner = serviceTiers(service.knex, user.workspace.id);
    const list = { read_version: 0, committed_version: 0, version: 1, tiers: DEFAULT };
    expect(await owner.prepare(list)).toEqual({ outcome: 'prepared' });
    expect(await owner.prepare(list)).toEqual({ outcome: 'prepared' });
  });
});
