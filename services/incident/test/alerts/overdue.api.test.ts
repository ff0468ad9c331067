import { afterAll, describe, expect, test } from '@jest/globals';
import { type Answer, eventually, testClock } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';

/** Time that passes while processes listen: they look every 20 milliseconds. */
const clock = testClock('2026-11-24T10:00:00.000Z');
const service = await serviceForFile({ clock, listening: 20 });
const other = await service.startProcess();
afterAll(async () => other.stop());

let workspaces = 100;

function monitorOf(options: { keyId?: number; workspaceId?: number; firstKeyId?: number; name?: string } = {}) {
  workspaces += 1;
  const { workspaceId = workspaces, keyId = workspaceId, firstKeyId, name = 'Prometheus' } = options;
  const client = service.as({
    workspace: { id: workspaceId, version: 1 },
    key_id: keyId,
    ...(firstKeyId !== undefined && { first_key_id: firstKeyId }),
    key: { name, prefix: 'tcs_1234' },
  });
  const incidents = async () => (await client.get('/api/v1/incidents?sort=created_at&direction=asc')).body.incidents;
  return {
    client,
    workspaceId,
    incidents,
    timeline: async () =>
      (await client.get(`/api/v1/incidents/${(await incidents())[0].id}/timeline?limit=100`)).body.events.map(
        ({ title }: { title: string }) => title,
      ),
    beat: async (query: string) => client.post(`/api/v1/alerts/heartbeat?${query}`, undefined),
    heartbeats: async () => (await client.get('/api/v1/alerts/heartbeats')).body.heartbeats,
    send: async (
      status: string,
      names: readonly string[],
      { query = '', startsAt = '2026-11-24T09:00:00Z', groupKey = 'group' } = {},
    ) =>
      client.post(`/api/v1/alerts/alertmanager?on_end=resolve${query}`, {
        version: '4',
        groupKey,
        alerts: names.map((name) => ({
          status,
          labels: { alertname: name, severity: 'none' },
          startsAt,
          fingerprint: name,
        })),
      }),
  };
}

const outcomes = ({ status, body }: Answer) => [
  status,
  ...body.results.map(({ outcome }: { outcome: string }) => outcome),
];

/** The processes have looked at this time, and after it, unless nothing is awaited. */
async function listened(): Promise<void> {
  await eventually(
    async () => {
      const [heartbeat] = await service.knex('alert_heartbeats').limit(1);
      const [group] = await service.knex('alert_groups').whereNotNull('quiet_at').limit(1);
      if (heartbeat === undefined && group === undefined) return true;
      const [row] = await service.knex('alert_clock').select('ticked_at');
      return row !== undefined && Date.parse(row.ticked_at) === Date.parse(clock.now());
    },
    { within: 5_000, what: 'a look at the clock' },
  );
  await eventually(
    async () => {
      const [due] = await service.knex('alert_heartbeats').where('due_at', '<=', clock.now());
      const [quiet] = await service.knex('alert_groups').where('quiet_at', '<=', clock.now());
      return due === undefined && quiet === undefined;
    },
    { within: 5_000, what: 'the end of what is due' },
  );
}

/** Lets seconds pass in which the processes can hear monitors. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 25) {
    clock.advance(Math.min(25, seconds - passed) * 1_000);
    await listened();
  }
}

describe('a heartbeat', () => {
  test('that is missed declares one incident, which is resolved when it is heard again', async () => {
    const monitor = monitorOf();
    expect((await monitor.beat('name=backup&within=120&service=checkout')).body).toMatchObject({
      heartbeat: { name: 'backup', within: 120, due_at: expect.any(String), incident: null },
    });
    await pass(100);
    await monitor.beat('name=backup&within=120&service=checkout');
    const since = clock.now();
    await pass(100);
    expect(await monitor.incidents()).toEqual([]);
    await pass(50);
    const time = since.slice(0, 19).replace('T', ' ');
    expect(await monitor.incidents()).toEqual([
      expect.objectContaining({
        title: `Nothing heard from backup since ${time} (UTC)`,
        service: 'checkout',
        status: 'open',
      }),
    ]);
    expect(await monitor.heartbeats()).toEqual([
      expect.objectContaining({
        name: 'backup',
        due_at: null,
        incident: { id: expect.any(Number), human_id: 'INC-1' },
      }),
    ]);
    expect((await monitor.beat('name=backup&within=120')).body.heartbeat).toMatchObject({
      due_at: expect.any(String),
      incident: { human_id: 'INC-1' },
    });
    expect(await monitor.incidents()).toEqual([expect.objectContaining({ status: 'resolved' })]);
    // A second miss soon after the first is another firing.
    await pass(150);
    expect(await monitor.incidents()).toEqual([expect.objectContaining({ status: 'active' })]);
  });

  test('is not missed while the service is not there, and when the clock is set', async () => {
    const monitor = monitorOf();
    await monitor.beat('name=backup&within=120');
    await listened();
    // No process looked.
    clock.advance(3_600_000);
    await listened();
    expect(await monitor.incidents()).toEqual([]);
    clock.advance(-7_200_000);
    await listened();
    await monitor.beat('name=backup&within=120');
    await pass(100);
    expect(await monitor.incidents()).toEqual([]);
    await pass(50);
    expect(await monitor.incidents()).toHaveLength(1);
  });

  test('is not missed while the gateway is down, through which monitors are heard', async () => {
    const monitor = monitorOf();
    await monitor.beat('name=backup&within=60');
    await listened();
    const { owners } = service;
    owners.down = true;
    for (let passed = 0; passed < 75; passed += 25) {
      clock.advance(25_000);
      const before = owners.refused;
      await eventually(() => owners.refused >= before + 3, { within: 20_000, what: 'looks at the gateway' });
    }
    expect(await monitor.incidents()).toEqual([]);
    owners.down = false;
    await listened();
    expect(await monitor.incidents()).toEqual([]);
    // A look that was under way when the gateway went down may have counted 25 seconds.
    await pass(25);
    expect(await monitor.incidents()).toEqual([]);
    await pass(50);
    expect(await monitor.incidents()).toHaveLength(1);
  });

  test('that is missed is named by the key that its monitor has now', async () => {
    const monitor = monitorOf();
    const { workspaceId } = monitor;
    await monitor.beat('name=backup&within=60');
    const rotated = monitorOf({ workspaceId, keyId: workspaceId + 10_000, firstKeyId: workspaceId, name: 'Successor' });
    await rotated.beat('name=backup&within=60');
    await pass(75);
    const [{ id }] = await monitor.incidents();
    const { events } = (await monitor.client.get(`/api/v1/incidents/${id}/timeline`)).body;
    expect(events).toEqual([expect.objectContaining({ body: expect.stringContaining('API key Successor') })]);
  });

  test('that cannot be declared is tried again, and delays no other', async () => {
    const monitor = monitorOf();
    const full = service.as({
      workspace: { id: workspaces + 50_000, version: 1, quotas: { incidents: 0 } },
      key: { name: 'Full', prefix: 'tcs_1234' },
    });
    await full.post('/api/v1/alerts/heartbeat?name=first&within=60', undefined);
    await monitor.beat('name=second&within=60');
    await pass(75);
    expect(await monitor.incidents()).toHaveLength(1);
    const [{ due_at: dueAt, missed_at: missedAt }] = await service
      .knex('alert_heartbeats')
      .where({ workspace_id: workspaces + 50_000 });
    expect(missedAt).toBeNull();
    expect(Date.parse(dueAt)).toBeGreaterThan(Date.parse(clock.now()));
    await service
      .knex('alert_heartbeats')
      .where({ workspace_id: workspaces + 50_000 })
      .delete();
  });

  test('that a person closes is reminded of while it is missed', async () => {
    const monitor = monitorOf();
    await monitor.beat('name=backup&within=60');
    await pass(75);
    const [{ id }] = await monitor.incidents();
    await monitor.client.post(`/api/v1/incidents/${id}/resolve`, {});
    await service.knex('alert_heartbeats').update({
      due_at: clock.now(),
      options: service.knex.raw('options || \'{"remindAfter": 60000}\''),
    });
    await pass(25);
    expect(await monitor.incidents()).toHaveLength(1);
    await pass(75);
    await service.knex('alert_heartbeats').update({ due_at: clock.now() });
    await pass(25);
    expect(await monitor.incidents()).toHaveLength(2);
  });

  test('that is forgotten leaves its incident to a person', async () => {
    const monitor = monitorOf();
    const { heartbeat } = (await monitor.beat('name=backup&within=60')).body;
    await pass(75);
    expect((await monitor.client.delete(`/api/v1/alerts/heartbeats/${heartbeat.id}`)).status).toBe(204);
    expect((await monitor.client.delete(`/api/v1/alerts/heartbeats/${heartbeat.id}`)).status).toBe(404);
    expect(await monitor.heartbeats()).toEqual([]);
    expect(await monitor.incidents()).toEqual([expect.objectContaining({ status: 'open' })]);
    expect((await monitor.beat('name=backup&within=60')).body.heartbeat.incident).toBeNull();
    expect(await monitor.incidents()).toEqual([expect.objectContaining({ status: 'open' })]);
  });

  test('is one of 100 of a workspace; what is only validated leaves nothing', async () => {
    const monitor = monitorOf();
    expect((await monitor.beat('name=backup&within=60&validate_only=true')).body.heartbeat.id).toBeNull();
    expect(await monitor.heartbeats()).toEqual([]);
    for (let index = 0; index < 95; index += 1) await monitor.beat(`name=${index}&within=604800`);
    // Two monitors at once do not pass the bound together.
    const second = monitorOf({ workspaceId: monitor.workspaceId, keyId: monitor.workspaceId + 10_000 });
    const statuses = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        [monitor, second].map(async (each) => each.beat(`name=more-${index}&within=604800`)),
      ).flat(),
    );
    expect(statuses.map(({ status }) => status).sort()).toEqual([...Array(5).fill(202), ...Array(5).fill(409)]);
    expect((await monitor.beat('name=more&within=60')).body).toMatchObject({
      code: 'invalid_resource_state',
      message: 'A workspace has at most 100 heartbeats',
    });
    expect((await monitor.beat('name=7&within=60')).status).toBe(202);
    expect((await monitor.beat('name=7&within=1')).body).toMatchObject({ code: 'invalid_request', field: 'within' });
    await service.knex('alert_heartbeats').where({ workspace_id: monitor.workspaceId }).delete();
  });

  test('of two Watchdogs in a notification are two', async () => {
    const monitor = monitorOf();
    const names = ['Watchdog', 'Deadman'];
    await monitor.send('firing', names, { query: '&heartbeat=60' });
    await pass(50);
    await monitor.send('firing', names.slice(1), { query: '&heartbeat=60' });
    await pass(25);
    expect(await monitor.incidents()).toMatchObject([{ title: expect.stringContaining('Watchdog') }]);
    expect(
      (await monitor.heartbeats()).map(({ name, incident }: { name: string; incident: unknown }) => [
        name,
        incident !== null,
      ]),
    ).toEqual([
      ['Deadman', false],
      ['Watchdog', true],
    ]);
  });

  test("of Alertmanager's alert that always fires declares only when it stops", async () => {
    const monitor = monitorOf();
    const beat = async (status = 'firing') => monitor.send(status, ['Watchdog'], { query: '&heartbeat=60' });
    expect(outcomes(await beat())).toEqual([202, 'unchanged']);
    expect(outcomes(await beat('resolved'))).toEqual([202, 'unchanged']);
    await pass(75);
    expect(await monitor.incidents()).toEqual([
      expect.objectContaining({
        title: expect.stringMatching(/^Nothing heard from Watchdog since /),
        severity: 'sev4',
      }),
    ]);
    expect(outcomes(await beat())).toEqual([202, 'ended']);
    expect(await monitor.incidents()).toEqual([expect.objectContaining({ status: 'resolved' })]);
  });
});

describe('silence', () => {
  test('ends what fires after quiet_after, once, and what is heard again starts again at once', async () => {
    const monitor = monitorOf();
    const query = '&quiet_after=120';
    await monitor.send('firing', ['A', 'B'], { query });
    await pass(100);
    expect(outcomes(await monitor.send('firing', ['A', 'B'], { query }))).toEqual([202, 'unchanged']);
    await pass(100);
    expect(await monitor.incidents()).toEqual([expect.objectContaining({ status: 'open' })]);
    await pass(50);
    expect(await monitor.incidents()).toEqual([expect.objectContaining({ status: 'resolved' })]);
    expect(await monitor.timeline()).toEqual([
      'Firing: 2 alerts, A among them',
      expect.stringMatching(/^Not heard since 2026-11-24 /),
    ]);
    expect(outcomes(await monitor.send('firing', ['A', 'B'], { query }))).toEqual([202, 'reopened']);
  });

  test('of a group is not broken by an alert that has left it', async () => {
    const monitor = monitorOf();
    const query = '&quiet_after=120';
    await monitor.send('firing', ['A', 'B'], { query });
    await pass(100);
    await monitor.send('firing', ['B'], { query, groupKey: 'edited' });
    await pass(50);
    expect(await monitor.timeline()).toContainEqual(expect.stringMatching(/^Not heard since 2026-11-24 /));
  });

  test('is not watched without the option, and a rotated key is the same monitor', async () => {
    const monitor = monitorOf();
    await monitor.send('firing', ['A'], { query: '&quiet_after=60' });
    const { workspaceId } = monitor;
    const rotated = monitorOf({ workspaceId, keyId: workspaceId + 10_000, firstKeyId: workspaceId });
    await rotated.send('firing', ['A']);
    await pass(100);
    expect(await monitor.incidents()).toEqual([expect.objectContaining({ status: 'open' })]);
  });
});

test('a severity that nobody knows is said', async () => {
  const monitor = monitorOf();
  const { body } = await monitor.client.post('/api/v1/alerts', {
    ...{ id: 'a', status: 'firing', title: 'A', severity: 'purple' },
  });
  expect(body.left_out).toEqual([
    { field: 'severity', reason: 'purple is no severity here: the incident has the default one' },
  ]);
  const { notifications } = (await monitor.client.get('/api/v1/alerts')).body;
  expect(notifications).toMatchObject([
    { outcome: 'declared', reason: 'severity: purple is no severity here: the incident has the default one' },
  ]);
});
