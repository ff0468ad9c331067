import { expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem } from '../systems/running.ts';

const PATH = '/api/v1/settings/configuration';
const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const keys = (list: { key: string }[]) => list.map(({ key }) => key);

describeWithServers('the configuration of a workspace', () => {
  const system = runningSystem();
  const client = running(async () => system.as());

  test('is replaced in both services with one revision, and applies to the next request', async () => {
    const { body } = await client.get(PATH);
    const { configuration } = body;
    const without = (list: { key: string }[], removed: string) =>
      list.filter(({ key }) => key !== removed).map((entry) => ({ ...entry, order: undefined }));
    const { body: incident } = await client.post('/api/v1/incidents', { title: 'x', status: 'on-hold' });
    await client.post('/api/v1/services', { name: 'Checkout', tier: 't1' });
    const change = {
      workflow_statuses: without(configuration.workflow_statuses, 'on-hold'),
      service_tiers: without(configuration.service_tiers, 't3'),
      replace: { statuses: { 'on-hold': 'monitoring' } },
    };
    const put = await client.put(PATH, change, at(configuration.revision));
    expect(put).toMatchObject({ status: 200, body: { configuration: { revision: configuration.revision + 1 } } });
    const [statuses, tiers, read, mapped, refused] = await Promise.all([
      client.get('/api/v1/configuration/workflow-statuses'),
      client.get('/api/v1/configuration/service-tiers'),
      client.get(PATH),
      client.get(`/api/v1/incidents/${incident.incident.id}`),
      client.post('/api/v1/services', { name: 'Mail', tier: 't3' }),
    ]);
    expect(statuses.body.workflow_statuses).toEqual(put.body.configuration.workflow_statuses);
    expect(tiers.body.service_tiers).toEqual(put.body.configuration.service_tiers);
    expect(keys(tiers.body.service_tiers)).toEqual(['t0', 't1', 't2']);
    expect(read.body).toEqual(put.body);
    expect(mapped.body.incident).toMatchObject({ status: 'monitoring', revision: 2 });
    expect(refused).toMatchObject({ status: 400, body: { field: 'tier' } });
  });

  test('keeps a tier that a service has, and then nothing changes', async () => {
    const { configuration } = (await client.get(PATH)).body;
    const change = {
      severities: [{ key: 'only', label: 'Only', min_score: 0, is_default: true }],
      service_tiers: [{ key: 't0', label: 'x', is_default: true }],
    };
    expect(
      await client.put(PATH, { ...change, replace: { severities: { sev3: 'only' } } }, at(configuration.revision)),
    ).toMatchObject({
      status: 409,
      body: { field: 'service_tiers', details: { service_tiers: { t1: 1 } } },
    });
    expect((await client.get(PATH)).body.configuration).toEqual(configuration);
    expect(keys((await client.get('/api/v1/configuration/service-tiers')).body.service_tiers)).toContain('t1');
  });
});
