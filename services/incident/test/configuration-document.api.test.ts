import { describe, expect, test } from '@jest/globals';
import {
  type Answer,
  asUser,
  eventually,
  holdTransaction,
  httpClient,
  refusal,
  testPrincipal,
  type TestUser,
} from '@tocsin/testing';
import { configure } from './configure.ts';
import { RecordingBroker } from './fakes/recording-broker.ts';
import { countWaiting, serviceForFile } from './service.ts';

const broker = new RecordingBroker();
const eventsOf = (id: number) => broker.published.filter(({ data }) => data.incident?.id === id);
const service = await serviceForFile({ broker });
const { knex: database } = service;

const PATH = '/api/v1/settings/configuration';
const INCIDENTS = '/api/v1/incidents';
const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
let workspaces = 5_000;
/** A workspace of its own; `later` sends requests as after the gateway has raised its version. */
function newWorkspace(user: TestUser = {}) {
  const id = (workspaces += 1);
  const as = (version: number, more: TestUser = {}) =>
    service.as({ ...user, ...more, workspace: { id, slug: `w${id}`, version } });
  return { id, as, client: as(0), later: as(1) };
}

const status = (key: string, more: object = {}) => ({ key, label: key, ...more });
const STATUSES = [
  status('open', { is_default: true }),
  status('active'),
  status('resolved', { is_terminal: true }),
  status('closed', { is_terminal: true }),
];
const SEVERITIES = [
  { key: 'sev1', label: 'One', min_score: 50 },
  { key: 'sev3', label: 'Three', min_score: 0, is_default: true },
];
const keys = (list: { key: string }[]) => list.map(({ key }) => key);
const create = async ({ client }: Pick<ReturnType<typeof newWorkspace>, 'client'>, body: object = {}) => {
  const answer = await client.post(INCIDENTS, { title: 'x', ...body });
  expect(answer.status).toBe(201);
  return answer.body.incident;
};

describe('the configuration', () => {
  test('is the defaults with revision 1 until it is changed', async () => {
    const { client } = newWorkspace();
    const { status: code, body, headers } = await client.get(PATH);
    expect([code, headers.get('service-resource-version')]).toEqual([200, '1']);
    expect(body.configuration.revision).toBe(1);
    expect(Object.keys(body.configuration)).toEqual([
      'revision',
      'workflow_statuses',
      'severities',
      'service_tiers',
      'exchange_rates',
      'timeline_groups',
    ]);
    expect(keys(body.configuration.workflow_statuses)).toEqual([
      'open',
      'active',
      'on-hold',
      'monitoring',
      'resolved',
      'closed',
    ]);
    expect(keys(body.configuration.service_tiers)).toEqual(['t0', 't1', 't2', 't3']);
  });

  test('is replaced and read back, in other processes too', async () => {
    const { id, client, later } = newWorkspace();
    const other = await service.startProcess();
    const incidents = await create({ client });
    const document = {
      workflow_statuses: [...STATUSES, status('watching', { color: ' #ff0000 ' })],
      severities: SEVERITIES,
      service_tiers: [{ key: 'gold', label: ' Gold ', is_default: true, description: 'Pays' }],
      exchange_rates: [{ currency: 'EUR', rate: 1.08, as_of: '2026-11-20T01:00:00+01:00' }],
      timeline_groups: [{ name: 'Mitigation' }, { id: 7, name: 'Law' }],
    };
    const put = await client.put(PATH, document, at(1));
    expect(put.body).toMatchObject({
      configuration: {
        revision: 2,
        workflow_statuses: [{ key: 'open', order: 0 }, {}, {}, {}, { key: 'watching', order: 4, color: '#ff0000' }],
        severities: [{ key: 'sev1', order: 0, is_default: false, description: '' }, { key: 'sev3' }],
        service_tiers: [{ key: 'gold', label: 'Gold', order: 0, is_default: true, description: 'Pays' }],
        exchange_rates: [{ currency: 'EUR', rate: 1.08, as_of: '2026-11-20T00:00:00.000Z' }],
        timeline_groups: [
          { id: 8, name: 'Mitigation' },
          { id: 7, name: 'Law' },
        ],
      },
    });
    expect([put.status, put.headers.get('service-resource-version')]).toEqual([200, '2']);
    expect((await later.get(PATH)).body).toEqual(put.body);
    const elsewhere = httpClientOf(other.url, id, 1);
    expect((await elsewhere.get(PATH)).body).toEqual(put.body);
    expect((await elsewhere.get('/api/v1/configuration/workflow-statuses')).body.workflow_statuses).toEqual(
      put.body.configuration.workflow_statuses,
    );
    expect((await elsewhere.get('/api/v1/configuration/severities')).body.severities).toEqual(
      put.body.configuration.severities,
    );
    expect((await elsewhere.get(`${INCIDENTS}/${incidents.id}`)).body.incident.revision).toBe(1);
    await other.stop();
    // The gateway was told, so that the next request of every process has the change.
    expect(service.owners.announced.get(id)).toBe(1);
    expect(await database('unannounced_configurations').where({ workspace_id: id }).select('version')).toEqual([]);

    // What was read can be sent back, and changes nothing.
    const again = await later.put(PATH, put.body.configuration, at(2));
    expect([again.status, again.body]).toEqual([200, put.body]);
    expect((await later.put(PATH, {}, at(2))).body).toEqual(put.body);
    expect(service.owners.announced.get(id)).toBe(1);
    // A list that the body lacks stays.
    const one = await later.put(PATH, { exchange_rates: [] }, at(2));
    expect(one.body.configuration).toEqual({ ...put.body.configuration, revision: 3, exchange_rates: [] });
    // As it was read, without its first entry.
    const fewer = await later.put(PATH, { severities: put.body.configuration.severities.slice(1) }, at(3));
    expect(fewer.body.configuration.severities).toMatchObject([{ key: 'sev3', order: 0 }]);
  });

  test('is that of the administration command', async () => {
    const { id, client } = newWorkspace();
    await configure(database, id, { severities: SEVERITIES });
    const { body } = await client.get(PATH);
    expect([body.configuration.revision, keys(body.configuration.severities)]).toEqual([2, ['sev1', 'sev3']]);
    expect((await client.put(PATH, {}, at(1))).status).toBe(412);
  });

  test('belongs to one workspace', async () => {
    const one = newWorkspace();
    const other = newWorkspace();
    await create(other, { status: 'monitoring' });
    expect((await one.client.put(PATH, { workflow_statuses: STATUSES }, at(1))).status).toBe(200);
    expect((await other.client.get(PATH)).body.configuration.revision).toBe(1);
    expect((await other.later.get('/api/v1/configuration/workflow-statuses')).body.workflow_statuses).toHaveLength(6);
  });

  test('can be as large as the limits allow', async () => {
    const { client } = newWorkspace();
    const text = (length: number) => '\u{1F525}'.repeat(length);
    const list = (length: number, more: object = {}) =>
      Array.from({ length }, (_, n) => ({
        key: `key-${n}`.padEnd(64, 'x'),
        label: text(128),
        is_default: n === 0,
        ...more,
      }));
    const document = {
      workflow_statuses: [...list(97), status('active'), status('resolved'), status('closed')],
      severities: list(50, { min_score: 0, description: text(1_000) }),
      service_tiers: list(50, { description: text(1_000) }),
      exchange_rates: Array.from({ length: 500 }, (_, n) => ({
        currency: [n / 26, n % 26, 0].map((letter) => String.fromCharCode(65 + (Math.floor(letter) % 26))).join(''),
        rate: 1.2345678901234,
        as_of: '2026-11-20T00:00:00.000Z',
      })),
      timeline_groups: Array.from({ length: 500 }, (_, n) => ({
        id: n + 1,
        name: text(124) + String(n).padStart(4, '0'),
      })),
    };
    const put = await client.put(PATH, document, at(1));
    expect(put.status).toBe(200);
    expect((await client.put(PATH, put.body.configuration, at(2))).body).toEqual(put.body);
  });
});

const httpClientOf = (url: string, id: number, version: number) =>
  httpClient(url, asUser('incident', { workspace: { id, slug: `w${id}`, version } }));

describe('is refused', () => {
  test.each<[string, object, number, string, string]>([
    ['an unknown property', { statuses: [] }, 400, 'unknown_field', 'statuses'],
    [
      'an unknown property within',
      { severities: [{ ...SEVERITIES[1], x: 1 }] },
      400,
      'unknown_field',
      'severities.0.x',
    ],
    ['an unknown list of replacements', { replace: { tiers: {} } }, 400, 'unknown_field', 'replace.tiers'],
    ['another revision in the body', { revision: 2 }, 400, 'invalid_request', 'revision'],
    ['no default', { severities: [SEVERITIES[0]] }, 400, 'invalid_request', 'severities'],
    ['a required status', { workflow_statuses: [STATUSES[0]] }, 400, 'invalid_request', 'workflow_statuses'],
    [
      'a replacement of what stays',
      { replace: { statuses: { open: 'active' } } },
      400,
      'invalid_request',
      'replace.statuses.open',
    ],
    [
      'a replacement of what is unknown',
      { workflow_statuses: STATUSES, replace: { statuses: { nothing: 'open' } } },
      400,
      'invalid_request',
      'replace.statuses.nothing',
    ],
    [
      'a replacement by what is removed',
      { workflow_statuses: STATUSES, replace: { statuses: { monitoring: 'on-hold' } } },
      400,
      'invalid_request',
      'replace.statuses.monitoring',
    ],
    [
      'a replacement of a severity by a status',
      { severities: SEVERITIES, replace: { severities: { sev2: 'open' } } },
      400,
      'invalid_request',
      'replace.severities.sev2',
    ],
  ])('%s', async (_what, body, code, error, field) => {
    const { client } = newWorkspace();
    expect(await client.put(PATH, body, at(1))).toMatchObject({ status: code, body: { code: error, field } });
    expect((await client.get(PATH)).body.configuration.revision).toBe(1);
  });

  test('without the revision, with an old one, without scope or permission', async () => {
    const { as, client } = newWorkspace();
    expect(await client.put(PATH, {})).toMatchObject(refusal(428, 'precondition_required'));
    expect(await client.put(PATH, {}, at(2))).toMatchObject(
      refusal(412, 'precondition_failed', { details: { current_revision: 1 } }),
    );
    const { scopes } = testPrincipal();
    const without = (scope: string) => as(0, { scopes: scopes.filter((one) => one !== scope) });
    expect(await without('configuration:read').get(PATH)).toMatchObject(refusal(403, 'missing_scope'));
    expect((await without('configuration:write').get(PATH)).status).toBe(200);
    expect(await without('configuration:write').put(PATH, {}, at(1))).toMatchObject(
      refusal(403, 'missing_scope', { details: { required_scope: 'configuration:write' } }),
    );
    expect(await as(0, { permissions: ['manage_teams'] }).put(PATH, {}, at(1))).toMatchObject(
      refusal(403, 'missing_role_permission', { details: { required_permission: 'manage_settings' } }),
    );
    // No seat is needed.
    expect((await as(0, { seat: 'none' }).put(PATH, {}, at(1))).status).toBe(200);
  });

  test('while something uses what it removes, with the numbers', async () => {
    const { client } = newWorkspace();
    const archived = await create({ client }, { status: 'monitoring', severity: 'sev2' });
    await client.post(`${INCIDENTS}/${archived.id}/archive`);
    await create({ client }, { status: 'monitoring', severity: 'sev4' });
    await create({ client }, { status: 'on-hold', severity: 'sev4' });
    const body = { workflow_statuses: STATUSES, severities: SEVERITIES };
    expect(await client.put(PATH, body, at(1))).toMatchObject(
      refusal(409, 'invalid_resource_state', {
        field: 'workflow_statuses',
        details: { statuses: { monitoring: 2, 'on-hold': 1 }, severities: { sev2: 1, sev4: 2 } },
      }),
    );
    // A replacement of one of them is not enough.
    const replace = { statuses: { monitoring: 'open', 'on-hold': 'open' }, severities: { sev2: 'sev1' } };
    const partly = await client.put(PATH, { ...body, replace }, at(1));
    expect(partly.body).toMatchObject({ field: 'severities', details: { severities: { sev4: 2 } } });
    expect(partly.body.details).not.toHaveProperty('statuses');

    await client.put(PATH, { timeline_groups: [{ id: 3, name: 'Law' }] }, at(1));
    await client.post(`${INCIDENTS}/${archived.id}/restore`);
    await client.post(`${INCIDENTS}/${archived.id}/timeline`, { body: 'x', group_id: 3 });
    expect(await client.put(PATH, { timeline_groups: [] }, at(2))).toMatchObject({
      status: 409,
      body: { field: 'timeline_groups', details: { timeline_groups: { 3: 1 } } },
    });
  });

  test('if the catalog refuses the tiers or is away, and nothing changes', async () => {
    const { client } = newWorkspace();
    const body = {
      severities: SEVERITIES,
      service_tiers: [{ key: 'gold', label: 'Gold', is_default: true }],
    };
    service.owners.preparation = { outcome: 'in_use', services: [{ tier: 't2', count: 5, slug: 'checkout' }] };
    expect(await client.put(PATH, body, at(1))).toMatchObject(
      refusal(409, 'invalid_resource_state', { field: 'service_tiers', details: { service_tiers: { t2: 5 } } }),
    );
    service.owners.preparation = { outcome: 'changed_since' };
    expect(await client.put(PATH, body, at(1))).toMatchObject(refusal(503, 'service_unavailable'));
    service.owners.preparation = undefined;
    service.owners.down = true;
    const away = [await client.put(PATH, body, at(1)), await client.get(PATH)];
    service.owners.down = false;
    expect(away.map((answer) => answer.status)).toEqual([503, 503]);
    await eventually(async () => (await client.get(PATH)).status === 200);
    const { configuration } = (await client.get(PATH)).body;
    expect([configuration.revision, keys(configuration.severities)]).toEqual([1, ['sev1', 'sev2', 'sev3', 'sev4']]);
  });
});

describe('replace', () => {
  test('changes every incident as a PATCH of it does', async () => {
    const { id, later, as } = newWorkspace();
    const client = as(0, { user_id: 77 });
    const [patched, mapped, archived, other] = [
      await create({ client }, { status: 'monitoring', severity: 'sev2' }),
      await create({ client }, { status: 'monitoring', severity: 'sev2' }),
      await create({ client }, { status: 'on-hold' }),
      await create({ client }, {}),
    ];
    await client.post(`${INCIDENTS}/${archived.id}/archive`);
    await client.patch(`${INCIDENTS}/${patched.id}`, { status: 'watched', severity: 'sev1' }, at(1));
    const body = {
      workflow_statuses: [...STATUSES, status('watched', { is_terminal: true })],
      severities: SEVERITIES.map((entry) => ({ ...entry })),
      replace: { statuses: { monitoring: 'watched', 'on-hold': 'open' }, severities: { sev2: 'sev1', sev4: 'sev3' } },
    };
    const put = await client.put(PATH, body, at(1));
    expect([put.status, put.headers.get('x-tocsin-cost')]).toEqual([200, '3']);
    const read = async (one: { id: number }) => (await later.get(`${INCIDENTS}/${one.id}`)).body.incident;
    expect(await read(mapped)).toMatchObject({
      revision: 2,
      status: 'watched',
      severity: 'sev1',
      severity_mode: 'manual',
      status_changed_at: expect.any(String),
    });
    expect(await read(archived)).toMatchObject({ revision: 3, status: 'open', archived_at: expect.any(String) });
    expect(await read(other)).toMatchObject({ revision: 1, severity: 'sev3' });
    const ended = await database('incidents').where({ workspace_id: id }).orderBy('id').select('ended_at');
    expect(ended.map((row) => row.ended_at !== null)).toEqual([true, true, false, false]);
    const log = (await later.get(`${INCIDENTS}/${mapped.id}/changelog`)).body.changelog;
    expect(log).toMatchObject([
      {
        revision: 2,
        actor: '77',
        changes: [
          { field: 'severity', from: 'sev2', to: 'sev1' },
          { field: 'status', from: 'monitoring', to: 'watched' },
        ],
      },
    ]);
    await eventually(() => eventsOf(mapped.id).length === 2);
    expect(eventsOf(mapped.id)[1]).toMatchObject({
      type: 'incident.updated',
      request_id: expect.any(String),
      data: { incident: { revision: 2, status: 'watched', severity: 'sev1' }, changes: log[0].changes },
    });
    const list = await later.get(`${INCIDENTS}?status=watched&severity=sev1&include_counts=true`);
    expect(list.body.incidents.map((one: { id: number }) => one.id).sort()).toEqual([patched.id, mapped.id]);
    expect((await later.get(`${INCIDENTS}?status=monitoring`)).status).toBe(400);
  });

  test('changes many incidents, and not too many', async () => {
    const { id, client, later } = newWorkspace();
    await create({ client }, { status: 'on-hold' });
    const copy = async (count: number) => {
      await database.raw(
        `insert into incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
           customer_impact_status, created_at, created_by)
         select workspace_id, (select max(number) from incidents where workspace_id = :id) + n, title, severity,
           severity_mode, status, issue_type, customer_impact_status, created_at, created_by
         from incidents, generate_series(1, :count) as n where workspace_id = :id and number = 1`,
        { id, count },
      );
    };
    await copy(10_000);
    const body = {
      workflow_statuses: [...STATUSES, status('monitoring')],
      replace: { statuses: { 'on-hold': 'monitoring' } },
    };
    expect(await client.put(PATH, body, at(1))).toMatchObject(
      refusal(409, 'invalid_resource_state', { details: { max_incidents: 10_000 } }),
    );
    await database('incidents').where({ workspace_id: id, number: 7 }).delete();
    const put = await client.put(PATH, body, at(1));
    expect([put.status, put.headers.get('x-tocsin-cost')]).toEqual([200, '10000']);
    const { body: list } = await later.get(`${INCIDENTS}?status=monitoring&include_counts=true&limit=1`);
    expect(list.collection_counts.matched).toBe(10_000);
    const [entries] = await database('changelog')
      .whereIn('incident_id', database('incidents').where({ workspace_id: id }).select('id'))
      .count('* as count');
    expect(Number(entries?.['count'])).toBe(10_000);
    // A status that becomes terminal concerns as many.
    await copy(1);
    await database('incidents').where({ workspace_id: id }).update({ status: 'monitoring' });
    const terminal = { workflow_statuses: [...STATUSES, status('monitoring', { is_terminal: true })] };
    expect((await later.put(PATH, terminal, at(2))).status).toBe(409);
  });
});

describe('at the same time', () => {
  test('one of two PUTs succeeds', async () => {
    const { client } = newWorkspace();
    const body = (label: string) => ({ severities: [{ ...SEVERITIES[1], label }] });
    const answers = await Promise.all(['a', 'b', 'c'].map(async (label) => client.put(PATH, body(label), at(1))));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 412, 412]);
    expect((await client.get(PATH)).body.configuration.revision).toBe(2);
  });

  /** Sends both while a transaction keeps the incident's row, so that the PUT waits for it in its transaction. */
  const during = async (incident: { id: number }, put: () => Promise<Answer>, request: () => Promise<Answer>) => {
    const unlock = await holdTransaction(database, async (trx) =>
      trx('incidents').where({ id: incident.id }).forUpdate().first('id'),
    );
    const putting = put();
    await eventually(async () => (await countWaiting(database, 'incidents')) > 0 || (await isWaiting()));
    const answer = request();
    await unlock();
    return Promise.all([putting, answer]);
  };
  const isWaiting = async () => {
    const { rows } = await database.raw(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  };

  test('a create and a PATCH with a removed status are refused, and one with a kept one is not', async () => {
    const { client } = newWorkspace();
    const incident = await create({ client }, { status: 'on-hold' });
    const other = await create({ client });
    const put = async () =>
      client.put(PATH, { workflow_statuses: STATUSES, replace: { statuses: { 'on-hold': 'open' } } }, at(1));
    const requests = async () => {
      const answers = await Promise.all([
        client.post(INCIDENTS, { title: 'y', status: 'on-hold' }),
        client.patch(`${INCIDENTS}/${other.id}`, { status: 'on-hold' }, at(1)),
        client.post(INCIDENTS, { title: 'z', status: 'active' }),
      ]);
      return { ...answers[0], body: answers.map((answer) => answer.status) };
    };
    const [replaced, answer] = await during(incident, put, requests);
    expect([replaced.status, answer.body]).toEqual([200, [400, 400, 201]]);
    expect(
      await database('incidents').where({ status: 'on-hold' }).whereIn('id', [incident.id, other.id]).first('id'),
    ).toBe(undefined);
  });
});

test('the gateway is told later if it cannot be reached', async () => {
  const { id, client } = newWorkspace();
  await database('unannounced_configurations').insert({ workspace_id: id, version: 5 });
  await eventually(async () => service.owners.announced.get(id) === 1);
  await eventually(
    async () =>
      (await database('unannounced_configurations').where({ workspace_id: id }).first('version')) === undefined,
  );
  expect((await client.get(PATH)).status).toBe(200);
});
