import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Knex } from '@tocsin/runtime';
import { planConfiguration } from '../src/administration.ts';
import { openOwnDatabase, startService, type TestService } from './service.ts';

let service: TestService;
let database: Knex;
beforeAll(async () => {
  service = await startService();
  database = openOwnDatabase(service);
});
afterAll(async () => {
  await database.destroy();
  await service.stop();
});

const status = (key: string, more: object = {}) => ({
  key,
  label: key.toUpperCase(),
  is_default: false,
  is_terminal: false,
  ...more,
});
const statuses = (...more: object[]) => [
  status('triage', { is_default: true, is_escalation_threshold: true, color: '#ff0000' }),
  status('active'),
  ...more,
  status('resolved', { is_terminal: true }),
  status('closed', { is_terminal: true }),
];

const configure = async (workspaceId: number, part: object) => {
  const plan = await planConfiguration(database, workspaceId, part);
  return database.transaction(async (trx) => plan.apply(trx));
};
/** A user's view of a workspace after its version has been raised so many times. */
const as = (id: number, version = 0) => service.as({ workspace: { id, slug: `w${id}`, version } });
const refused = (field: string, message: RegExp) =>
  expect.objectContaining({ code: 'invalid_request', field, message: expect.stringMatching(message) });

describe('statuses and severities', () => {
  test('are what they are said to be, in that order', async () => {
    const printed = await configure(1, {
      workflow_statuses: statuses(status('on-hold')),
      severities: [
        { key: 'p1', label: 'P1', is_default: false, min_score: 80, description: 'All hands' },
        { key: 'p2', label: 'P2', is_default: true, min_score: 0 },
      ],
    });
    expect(Object.keys(printed)).toEqual(['workflow_statuses', 'severities']);
    const client = as(1, 1);
    const { body } = await client.get('/api/v1/configuration/workflow-statuses');
    expect(body.workflow_statuses.map(({ key, order }: { key: string; order: number }) => [key, order])).toEqual([
      ['triage', 0],
      ['active', 1],
      ['on-hold', 2],
      ['resolved', 3],
      ['closed', 4],
    ]);
    expect(body.workflow_statuses[0]).toEqual({
      key: 'triage',
      label: 'TRIAGE',
      order: 0,
      is_default: true,
      is_terminal: false,
      is_escalation_threshold: true,
      color: '#ff0000',
    });
    expect((await client.get('/api/v1/configuration/severities')).body.severities).toEqual([
      {
        key: 'p1',
        label: 'P1',
        order: 0,
        is_default: false,
        min_score: 80,
        description: 'All hands',
        color: '#667085',
      },
      { key: 'p2', label: 'P2', order: 1, is_default: true, min_score: 0, description: '', color: '#667085' },
    ]);
    const created = await client.post('/api/v1/incidents', { title: 'x' });
    expect(created.body.incident).toMatchObject({ status: 'triage', severity: 'p2' });
    expect(await as(2).get('/api/v1/configuration/severities')).toMatchObject({ body: { severities: { length: 4 } } });
  });

  test('change one without the other', async () => {
    await configure(3, { workflow_statuses: statuses() });
    await configure(3, { severities: [{ key: 'p1', label: 'P1', is_default: true, min_score: 0 }] });
    const client = as(3, 1);
    expect((await client.get('/api/v1/configuration/workflow-statuses')).body.workflow_statuses).toHaveLength(4);
    expect((await client.get('/api/v1/configuration/severities')).body.severities).toHaveLength(1);
  });

  test('that incidents have cannot go, archived ones included', async () => {
    const client = as(4);
    const { body } = await client.post('/api/v1/incidents', { title: 'x', status: 'monitoring', severity: 'sev2' });
    await client.post(`/api/v1/incidents/${body.incident.id}/archive`);
    await expect(configure(4, { workflow_statuses: statuses() })).rejects.toEqual(
      refused('workflow_statuses', /status monitoring/),
    );
    const severities = [{ key: 'sev3', label: 'x', is_default: true, min_score: 0 }];
    await expect(configure(4, { severities })).rejects.toEqual(refused('severities', /severity sev2/));
    // Another workspace has none of it.
    await configure(5, { workflow_statuses: statuses(), severities });
    expect((await as(4, 1).get('/api/v1/configuration/severities')).body.severities).toHaveLength(4);
  });

  test('that an incident got between the plan and its execution cannot go either', async () => {
    const plan = await planConfiguration(database, 6, { workflow_statuses: statuses() });
    await as(6).post('/api/v1/incidents', { title: 'x', status: 'monitoring' });
    await expect(database.transaction(async (trx) => plan.apply(trx))).rejects.toEqual(
      refused('workflow_statuses', /status monitoring/),
    );
    expect((await as(6, 1).get('/api/v1/configuration/workflow-statuses')).body.workflow_statuses).toHaveLength(6);
  });

  test('a status that becomes terminal has ended its incidents, and one that no longer is has not', async () => {
    const keep = ['open', 'monitoring'].map((key) => status(key));
    const client = as(7);
    const { body } = await client.post('/api/v1/incidents', { title: 'x', impact_started_at: '2026-01-01T00:00:00Z' });
    const path = `/api/v1/incidents/${body.incident.id}`;
    const patched = await client.patch(path, { status: 'monitoring' }, { 'If-Service-Resource-Version': '1' });
    const since = (text: string) => Math.floor((Date.parse(text) - Date.parse('2026-01-01T00:00:00Z')) / 1_000);
    await configure(7, { workflow_statuses: statuses(keep[0]!, { ...keep[1], is_terminal: true }) });
    const ended = await database('incidents').where({ id: body.incident.id }).first('ended_at');
    expect(ended.ended_at).toBe(patched.body.incident.status_changed_at);
    const { body: after } = await as(7, 1).get(path);
    expect(after.incident).toMatchObject({ revision: 2, duration_seconds: since(ended.ended_at) });
    await configure(7, { workflow_statuses: statuses(...keep) });
    expect(await database('incidents').where({ id: body.incident.id }).first('ended_at')).toEqual({ ended_at: null });
  });
});

describe('exchange rates', () => {
  test('are kept by currency, and replaced as a whole', async () => {
    const rate = (currency: string) => ({ currency, rate: 1.25, as_of: '2026-11-20T10:00:00+01:00' });
    await configure(1, { exchange_rates: [rate('EUR'), rate('GBP')] });
    await configure(1, { exchange_rates: [rate('GBP')] });
    const row = await database('configurations').where({ workspace_id: 1 }).first('exchange_rates');
    expect(row.exchange_rates).toEqual({ GBP: { rate: 1.25, asOf: '2026-11-20T09:00:00.000Z' } });
  });
});

describe('timeline groups', () => {
  test('get IDs, keep them by name, and are in order', async () => {
    const first = await configure(10, { timeline_groups: [{ name: 'Comms' }, { id: 7, name: 'Infra' }] });
    expect(first).toEqual({
      timeline_groups: [
        { id: 8, name: 'Comms' },
        { id: 7, name: 'Infra' },
      ],
    });
    expect(await configure(10, { timeline_groups: [{ name: 'Infra' }, { name: 'Comms' }, { name: 'Law' }] })).toEqual({
      timeline_groups: [
        { id: 7, name: 'Infra' },
        { id: 8, name: 'Comms' },
        { id: 9, name: 'Law' },
      ],
    });
    // IDs are each workspace's own.
    expect(await configure(11, { timeline_groups: [{ id: 7, name: 'Ours' }] })).toMatchObject({
      timeline_groups: [{ id: 7 }],
    });
  });

  test('that events are in cannot go, and can be renamed', async () => {
    await configure(12, {
      timeline_groups: [
        { id: 1, name: 'Comms' },
        { id: 2, name: 'Empty' },
      ],
    });
    const client = as(12);
    const { body } = await client.post('/api/v1/incidents', { title: 'x' });
    const timeline = `/api/v1/incidents/${body.incident.id}/timeline`;
    await client.post(timeline, { body: 'x', group_id: 1 });
    await expect(configure(12, { timeline_groups: [{ id: 2, name: 'Empty' }] })).rejects.toEqual(
      refused('timeline_groups', /group 1 \(Comms\)/),
    );
    await configure(12, { timeline_groups: [{ id: 1, name: 'Öffentlichkeit' }] });
    const found = await client.get(`${timeline}?q=${encodeURIComponent('öffent')}`);
    expect(found.body.matched_count).toBe(1);
    expect((await client.post(timeline, { body: 'x', group_id: 2 })).body).toMatchObject({ field: 'group_id' });
    await client.delete(`/api/v1/timeline/${found.body.events[0].id}`);
    expect(await configure(12, { timeline_groups: [] })).toEqual({ timeline_groups: [] });
  });
});

test('a part that is wrong is refused before anything is done', async () => {
  await expect(planConfiguration(database, 1, { service_tiers: [] })).rejects.toEqual(
    expect.objectContaining({ code: 'unknown_field', field: 'service_tiers' }),
  );
});
