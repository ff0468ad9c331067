import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { planConfiguration } from '../src/administration.ts';
import { create, newWorkspace, startService, type TestService } from './service.ts';

let service: TestService;
beforeAll(async () => void (service = await startService()));
afterAll(async () => service.stop());

const PATH = '/api/v1/configuration/service-tiers';
const tier = (key: string, more: Record<string, unknown> = {}) => ({
  key,
  label: key.toUpperCase(),
  is_default: false,
  ...more,
});
const DEFAULT = { is_default: true };

/** Plans and applies a change as the administration command does; the gateway then raises the workspace's version. */
async function configure(workspaceId: number, part: unknown) {
  const plan = await planConfiguration(service.knex, workspaceId, part);
  return service.knex.transaction(async (trx) => plan.apply(trx));
}

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
    const applied = await configure(user.workspace.id, {
      service_tiers: [tier('gold', { description: 'Pays the bills' }), tier('iron', DEFAULT)],
    });
    const service_tiers = [
      { key: 'gold', label: 'GOLD', is_default: false, description: 'Pays the bills' },
      { key: 'iron', label: 'IRON', is_default: true, description: '' },
    ];
    expect(applied).toStrictEqual({ service_tiers });
    expect((await later(user).get(PATH)).body).toStrictEqual({
      service_tiers: service_tiers.map((entry, order) => ({ ...entry, order })),
    });
    // The result can be used as the next file.
    expect(await configure(user.workspace.id, applied)).toStrictEqual(applied);
    expect((await create(later(user), 'service', { name: 's' })).tier).toBe('iron');
    expect(await later(user).post('/api/v1/services', { name: 's', tier: 't2' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', field: 'tier' },
    });
    expect((await service.as(newWorkspace()).get(PATH)).body.service_tiers[0].key).toBe('t0');
  });

  test('are the present ones for a create, even if the gateway accepted the request before the change', async () => {
    const user = newWorkspace();
    await service.as(user).get(PATH);
    await configure(user.workspace.id, { service_tiers: [tier('gold', DEFAULT)] });
    expect((await create(service.as(user), 'service', { name: 's' })).tier).toBe('gold');
    expect((await service.as(user).post('/api/v1/services', { name: 's', tier: 't2' })).status).toBe(400);
  });

  test('keep each key that a service has, archived ones included', async () => {
    const user = newWorkspace();
    const { id } = await create(service.as(user), 'service', { name: 'Old Ledger', tier: 't3' });
    await service.as(user).delete(`/api/v1/services/${id}`);
    const without = { service_tiers: [tier('t0', DEFAULT)] };
    await expect(configure(user.workspace.id, without)).rejects.toMatchObject({
      code: 'invalid_request',
      field: 'service_tiers',
      message: expect.stringMatching(/t3.*old_ledger/),
    });
    await create(service.as(user), 'service', { name: 'Another', tier: 't3' });
    await expect(configure(user.workspace.id, without)).rejects.toThrow(/t3.*2 services/);
    await configure(user.workspace.id, { service_tiers: [tier('t0', DEFAULT), tier('t3')] });
    expect((await later(user).get(PATH)).body.service_tiers.map(({ key }: { key: string }) => key)).toEqual([
      't0',
      't3',
    ]);
  });

  test('always include the key of every service, also when services are created concurrently', async () => {
    for (let round = 0; round < 10; round += 1) {
      const user = newWorkspace();
      const [configured, ...created] = await Promise.allSettled([
        configure(user.workspace.id, { service_tiers: [tier('t0', DEFAULT)] }),
        ...Array.from({ length: 4 }, async () => service.as(user).post('/api/v1/services', { name: 's', tier: 't3' })),
      ]);
      const statuses = created.map((result) => (result.status === 'fulfilled' ? result.value.status : 0));
      const keys = (await later(user).get(PATH)).body.service_tiers.map(({ key }: { key: string }) => key);
      if (configured.status === 'fulfilled') {
        expect(keys).toEqual(['t0']);
        expect(statuses).toEqual([400, 400, 400, 400]);
      } else {
        expect(keys).toContain('t3');
        expect(new Set(statuses)).toEqual(new Set([201]));
      }
    }
  });

  test('raise the version that tells replicas that they are behind', async () => {
    const { workspace } = newWorkspace();
    for (const version of [1, 2]) {
      await configure(workspace.id, { service_tiers: [tier('t0', DEFAULT)] });
      const row = await service.knex('workspace_versions').where({ workspace_id: workspace.id }).first('version');
      expect(row).toEqual({ version });
    }
  });

  test('stay unchanged by a part without them', async () => {
    const { workspace } = newWorkspace();
    expect(await configure(workspace.id, {})).toEqual({});
    expect(await service.knex('workspace_versions').where({ workspace_id: workspace.id }).select('version')).toEqual(
      [],
    );
  });
});

describe('a configuration file', () => {
  test.each<[unknown, string, string]>([
    [{ service_tiers: [] }, 'invalid_request', 'service_tiers'],
    [{ service_tiers: 'x' }, 'invalid_request', 'service_tiers'],
    [{ service_tiers: [tier('a')] }, 'invalid_request', 'service_tiers'],
    [{ service_tiers: [tier('a', DEFAULT), tier('b', DEFAULT)] }, 'invalid_request', 'service_tiers'],
    [{ service_tiers: [tier('a', DEFAULT), tier('a')] }, 'invalid_request', 'service_tiers.1.key'],
    [{ service_tiers: [tier('', DEFAULT)] }, 'invalid_request', 'service_tiers.0.key'],
    [{ service_tiers: [tier('a b', DEFAULT)] }, 'invalid_request', 'service_tiers.0.key'],
    [{ service_tiers: [tier('a'.repeat(65), DEFAULT)] }, 'invalid_request', 'service_tiers.0.key'],
    [{ service_tiers: [tier('a', { label: ' ' })] }, 'invalid_request', 'service_tiers.0.label'],
    [{ service_tiers: [tier('a', { label: 'x\0' })] }, 'invalid_request', 'service_tiers.0.label'],
    [{ service_tiers: [tier('a', { is_default: 1 })] }, 'invalid_request', 'service_tiers.0.is_default'],
    [{ service_tiers: [tier('a', { description: null })] }, 'invalid_request', 'service_tiers.0.description'],
    [{ service_tiers: [{ key: 'a', label: 'A' }] }, 'invalid_request', 'service_tiers'],
    [{ service_tiers: [tier('Gold', DEFAULT)] }, 'invalid_request', 'service_tiers.0.key'],
    [{ service_tiers: [tier('a', { order: 1 })] }, 'invalid_request', 'service_tiers.0.order'],
    [{ service_tiers: [tier('a', DEFAULT)], severities: [] }, 'unknown_field', 'severities'],
  ])('%j is refused', async (part, code, field) => {
    await expect(planConfiguration(service.knex, newWorkspace().workspace.id, part)).rejects.toMatchObject({
      code,
      field,
    });
  });
});
