import { describe, expect, test } from '@jest/globals';
import { type Answer, eventually, holdTransaction, refusal } from '@tocsin/testing';
import { configure, planConfiguration } from '../configure.ts';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
const { knex: database } = service;

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

/** A client of a workspace at a version. */
const as = (id: number, version = 0) => service.as({ workspace: { id, slug: `w${id}`, version } });
const refused = (field: string, message: RegExp) =>
  expect.objectContaining({ code: 'invalid_resource_state', field, message: expect.stringMatching(message) });

describe('statuses and severities', () => {
  test('are those of new incidents of the workspace', async () => {
    const printed = await configure(database, 1, {
      workflow_statuses: statuses(status('on-hold')),
      severities: [
        { key: 'p1', label: 'P1', is_default: false, min_score: 80, description: 'All hands' },
        { key: 'p2', label: 'P2', is_default: true, min_score: 0 },
      ],
    });
    expect(Object.keys(printed)).toEqual(['workflow_statuses', 'severities']);
    const created = await as(1, 1).post('/api/v1/incidents', { title: 'x' });
    expect(created.body.incident).toMatchObject({ status: 'triage', severity: 'p2' });
    expect(await as(2).get('/api/v1/configuration/severities')).toMatchObject({ body: { severities: { length: 4 } } });
  });

  test('a status that becomes terminal ends its incidents; one that stops being terminal reopens them', async () => {
    const keep = ['open', 'monitoring'].map((key) => status(key));
    const client = as(7);
    const { body } = await client.post('/api/v1/incidents', { title: 'x', impact_started_at: '2026-01-01T00:00:00Z' });
    const path = `/api/v1/incidents/${body.incident.id}`;
    const patched = await client.patch(path, { status: 'monitoring' }, { 'If-Service-Resource-Version': '1' });
    const since = (text: string) => Math.floor((Date.parse(text) - Date.parse('2026-01-01T00:00:00Z')) / 1_000);
    await configure(database, 7, { workflow_statuses: statuses(keep[0]!, { ...keep[1], is_terminal: true }) });
    const ended = await database('incidents').where({ id: body.incident.id }).first('ended_at');
    expect(ended.ended_at).toBe(patched.body.incident.status_changed_at);
    const { body: after } = await as(7, 1).get(path);
    expect(after.incident).toMatchObject({ revision: 2, duration_seconds: since(ended.ended_at) });
    await configure(database, 7, { workflow_statuses: statuses(...keep) });
    expect(await database('incidents').where({ id: body.incident.id }).first('ended_at')).toEqual({ ended_at: null });
  });
});

const isWaiting = async () => {
  const { rows } = await database.raw(`
    select 1 from pg_stat_activity
    where datname = current_database() and application_name = 'tocsin-incident' and wait_event_type = 'Lock'`);
  return rows.length > 0;
};

/** Sends the request during the change's transaction, and commits when the request waits for a lock or has ended. */
async function during(plan: Awaited<ReturnType<typeof planConfiguration>>, request: () => Promise<Answer>) {
  const commit = await holdTransaction(database, async (trx) => plan.apply(trx));
  const answer = request();
  await Promise.race([answer, eventually(isWaiting, { what: 'a request that waits for the change' })]);
  await commit();
  return answer;
}

/** Requests that are checked against a cached configuration. */
describe('a change of statuses and severities', () => {
  const ON_HOLD_TERMINAL = statuses(status('open'), status('monitoring'), status('on-hold', { is_terminal: true }));
  const WITHOUT_MONITORING = statuses(status('open'), status('on-hold'));
  const ONE_SEVERITY = [{ key: 'sev3', label: 'x', is_default: true, min_score: 0 }];
  const INCIDENTS = '/api/v1/incidents';
  let workspaces = 100;

  /** A workspace with an incident and a cached configuration, and the configuration to apply. */
  async function prepare(part: object) {
    workspaces += 1;
    const client = as(workspaces);
    const { body } = await client.post(INCIDENTS, { title: 'x', severity: 'sev3' });
    return { client, id: body.incident.id, plan: await planConfiguration(database, workspaces, part) };
  }

  const revision = (number: number) => ({ 'If-Service-Resource-Version': String(number) });
  const removed = (field: string) => refusal(400, 'invalid_request', { field });
  const endOf = async (id: number) => (await database('incidents').where({ id }).first('ended_at')).ended_at;

  test.each([
    ['status', { status: 'monitoring' }, { workflow_statuses: WITHOUT_MONITORING }],
    ['severity', { severity: 'sev1' }, { severities: ONE_SEVERITY }],
  ])('prevents a create with a removed %s', async (field, changes, part) => {
    const { client, plan } = await prepare(part);
    const keyed = client.with({ 'Idempotency-Key': 'k' });
    const create = async () => keyed.post(INCIDENTS, { title: 'y', ...changes });
    expect(await during(plan, create)).toMatchObject(removed(field));
    // The workspace's version does not rise yet.
    expect(await create()).toMatchObject(removed(field));
    expect((await client.get(INCIDENTS)).body.incidents).toHaveLength(1);
    // Nothing was written, and no number was assigned.
    expect((await keyed.post(INCIDENTS, { title: 'z' })).body.incident).toMatchObject({ human_id: 'INC-2' });
  });

  test.each([
    ['status', { status: 'monitoring' }, { workflow_statuses: WITHOUT_MONITORING }],
    ['severity', { severity: 'sev1' }, { severities: ONE_SEVERITY }],
  ])('prevents a PATCH to a removed %s', async (field, changes, part) => {
    const { client, id, plan } = await prepare(part);
    const change = async () => client.patch(`${INCIDENTS}/${id}`, changes, revision(1));
    expect(await during(plan, change)).toMatchObject(removed(field));
    expect(await change()).toMatchObject(removed(field));
    expect((await client.get(`${INCIDENTS}/${id}`)).body.incident.revision).toBe(1);
  });

  test('tells a create and a PATCH which statuses are terminal', async () => {
    const first = await prepare({ workflow_statuses: ON_HOLD_TERMINAL });
    const created = await during(first.plan, async () =>
      first.client.post(INCIDENTS, { title: 'y', status: 'on-hold' }),
    );
    expect(created.status).toBe(201);
    expect(await endOf(created.body.incident.id)).toBe(created.body.incident.created_at);

    const second = await prepare({ workflow_statuses: ON_HOLD_TERMINAL });
    const path = `${INCIDENTS}/${second.id}`;
    const patched = await during(second.plan, async () =>
      second.client.patch(path, { status: 'on-hold' }, revision(1)),
    );
    expect(patched).toMatchObject({ status: 200, body: { incident: { status: 'on-hold', revision: 2 } } });
    expect(await endOf(second.id)).toBe(patched.body.incident.status_changed_at);
  });

  test('tells a lifecycle operation which statuses are terminal', async () => {
    const part = [status('open', { is_default: true }), status('active', { is_terminal: true })];
    const { client, id, plan } = await prepare({ workflow_statuses: [...part, status('resolved'), status('closed')] });
    const resolved = await during(plan, async () => client.post(`${INCIDENTS}/${id}/resolve`, {}));
    expect(resolved.status).toBe(200);
    expect(await endOf(id)).toBeNull();
    const reopened = await client.post(`${INCIDENTS}/${id}/reopen`, {});
    expect(await endOf(id)).toBe(reopened.body.incident.status_changed_at);
  });

  test('waits for requests that were already checked', async () => {
    const { client, id, plan } = await prepare({ workflow_statuses: WITHOUT_MONITORING });
    const unlock = await holdTransaction(database, async (trx) =>
      trx('incidents').where({ id }).forUpdate().first('id'),
    );
    const patching = client.patch(`${INCIDENTS}/${id}`, { status: 'monitoring' }, revision(1));
    await eventually(isWaiting, { what: 'the PATCH that waits for its incident' });
    const applied = database.transaction(async (trx) => plan.apply(trx)).catch((error: unknown) => error);
    await unlock();
    expect((await patching).status).toBe(200);
    expect(await applied).toEqual(refused('workflow_statuses', /status monitoring/));
  });

  test('also applies to the first incident of a workspace', async () => {
    workspaces += 1;
    const plan = await planConfiguration(database, workspaces, { workflow_statuses: WITHOUT_MONITORING });
    const client = as(workspaces);
    await client.get('/api/v1/configuration/workflow-statuses');
    const create = async () => client.post(INCIDENTS, { title: 'x', status: 'monitoring' });
    expect(await during(plan, create)).toMatchObject(removed('status'));
  });
});

describe('timeline groups', () => {
  test('cannot receive an event while they are removed', async () => {
    await configure(database, 13, { timeline_groups: [{ id: 1, name: 'Comms' }] });
    const client = as(13);
    const { body } = await client.post('/api/v1/incidents', { title: 'x' });
    const plan = await planConfiguration(database, 13, { timeline_groups: [] });
    const answer = await during(plan, async () =>
      client.post(`/api/v1/incidents/${body.incident.id}/timeline`, { body: 'x', group_id: 1 }),
    );
    expect(answer).toMatchObject(refusal(400, 'invalid_request', { field: 'group_id' }));
  });

  test('get IDs, keep them by name and keep their order', async () => {
    const first = await configure(database, 10, { timeline_groups: [{ name: 'Comms' }, { id: 7, name: 'Infra' }] });
    expect(first).toEqual({
      timeline_groups: [
        { id: 8, name: 'Comms' },
        { id: 7, name: 'Infra' },
      ],
    });
    expect(
      await configure(database, 10, { timeline_groups: [{ name: 'Infra' }, { name: 'Comms' }, { name: 'Law' }] }),
    ).toEqual({
      timeline_groups: [
        { id: 7, name: 'Infra' },
        { id: 8, name: 'Comms' },
        { id: 9, name: 'Law' },
      ],
    });
    // Each workspace has its own IDs.
    expect(await configure(database, 11, { timeline_groups: [{ id: 7, name: 'Ours' }] })).toMatchObject({
      timeline_groups: [{ id: 7 }],
    });
  });

  test('with events cannot be removed but can be renamed', async () => {
    await configure(database, 12, {
      timeline_groups: [
        { id: 1, name: 'Comms' },
        { id: 2, name: 'Empty' },
      ],
    });
    const client = as(12);
    const { body } = await client.post('/api/v1/incidents', { title: 'x' });
    const timeline = `/api/v1/incidents/${body.incident.id}/timeline`;
    await client.post(timeline, { body: 'x', group_id: 1 });
    await expect(configure(database, 12, { timeline_groups: [{ id: 2, name: 'Empty' }] })).rejects.toEqual(
      refused('timeline_groups', /group 1 \(Comms\)/),
    );
    await configure(database, 12, { timeline_groups: [{ id: 1, name: 'Öffentlichkeit' }] });
    const matches = await client.get(`${timeline}?q=${encodeURIComponent('öffent')}`);
    expect(matches.body.matched_count).toBe(1);
    expect((await client.post(timeline, { body: 'x', group_id: 2 })).body).toMatchObject({ field: 'group_id' });
    await client.delete(`/api/v1/timeline/${matches.body.events[0].id}`);
    expect(await configure(database, 12, { timeline_groups: [] })).toEqual({ timeline_groups: [] });
  });
});

test('an invalid part is rejected before any change', async () => {
  await expect(planConfiguration(database, 1, { issue_types: [] })).rejects.toEqual(
    expect.objectContaining({ code: 'unknown_field', field: 'issue_types' }),
  );
});
