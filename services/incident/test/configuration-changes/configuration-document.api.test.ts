import { describe, expect, test } from '@jest/globals';
import { type Answer, asUser, eventually, httpClient, refusal, type TestUser } from '@tocsin/testing';
import { configure } from '../configure.ts';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';

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
      'incident_roles',
      'time_zone',
      'on_call_lead',
      'postmortem_template',
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
    // JSON has two zeros.
    const zero = JSON.stringify({ severities: put.body.configuration.severities }).replace(
      '"min_score":0',
      '"min_score":-0',
    );
    expect(zero).toContain('-0');
    expect((await later.put(PATH, zero, at(2))).body).toEqual(put.body);
    expect(service.owners.announced.get(id)).toBe(1);
    // A list that the body lacks stays.
    const one = await later.put(PATH, { exchange_rates: [] }, at(2));
    expect(one.body.configuration).toEqual({ ...put.body.configuration, revision: 3, exchange_rates: [] });
    // As it was read, without its first entry.
    const fewer = await later.put(PATH, { severities: put.body.configuration.severities.slice(1) }, at(3));
    expect(fewer.body.configuration.severities).toMatchObject([{ key: 'sev3', order: 0 }]);
  });

  test('that is only validated shows no IDs of new groups', async () => {
    const { client, later } = newWorkspace();
    const named = (...names: string[]) => ({ timeline_groups: names.map((name) => ({ name })) });
    const groupsOf = ({ body }: Answer) => body.configuration.timeline_groups;
    const [one] = groupsOf(await client.put(PATH, named('One'), at(1)));
    const lists = { timeline_groups: [{ name: 'Two' }, one, { id: 77, name: 'Given' }] };
    const dry = await later.put(`${PATH}?validate_only=true`, lists, at(2));
    expect(groupsOf(dry)).toEqual([{ id: null, name: 'Two' }, one, { id: 77, name: 'Given' }]);
    expect(groupsOf(await later.put(PATH, lists, at(2)))).toEqual([
      { id: 78, name: 'Two' },
      one,
      lists.timeline_groups[2],
    ]);
  });

  test('has the time zone of the workspace, which is audited as the lists are', async () => {
    const { id, client, later } = newWorkspace();
    expect((await client.get(PATH)).body.configuration.time_zone).toBe('UTC');
    const { body } = await client.put(PATH, { time_zone: 'Asia/Kolkata' }, at(1));
    expect(body.configuration).toMatchObject({ revision: 2, time_zone: 'Asia/Kolkata', severities: { length: 4 } });
    expect((await later.get(PATH)).body).toEqual(body);
    expect((await later.put(PATH, body.configuration, at(2))).body).toEqual(body);
    const recorded = await eventually(() =>
      broker.published.find(({ type, workspace }) => type === 'audit.recorded' && workspace.id === id),
    );
    expect(recorded.data.entry).toMatchObject({
      action: 'configuration.replaced',
      before: { time_zone: 'UTC' },
      after: { time_zone: 'Asia/Kolkata' },
    });
    // The administration command.
    expect(await configure(database, id, { time_zone: 'Europe/Kyiv' })).toEqual({ time_zone: 'Europe/Kyiv' });
    expect((await client.get(PATH)).body.configuration).toMatchObject({ revision: 3, time_zone: 'Europe/Kyiv' });
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
      incident_roles: Array.from({ length: 20 }, (_, n) => ({
        ...{ key: `r${n}`.padEnd(64, '-'), label: text(128), description: text(500), several_holders: true },
      })),
      postmortem_template: '"'.repeat(65_536),
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
    ['a time zone that does not exist', { time_zone: 'Europe/Atlantis' }, 400, 'invalid_request', 'time_zone'],
    ['an abbreviation of time zones', { time_zone: 'BST' }, 400, 'invalid_request', 'time_zone'],
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

  test.each([
    ['{{title}} {{ title }}', 'Must not have the placeholder {{ title }}, but only {{reference}}, {{title}},'],
    ['{{title}}'.repeat(4), 'Must not have the placeholder {{title}} more than 3 times'],
    ['<a href="{{title}}">', 'Must not have a placeholder inside of an HTML tag'],
    ['Ü'.repeat(32_769), 'Must be at most 65536 bytes'],
  ])('a template of post-mortems that is not one: %.30s', async (postmortem_template, message) => {
    const refused = { field: 'postmortem_template', message: expect.stringContaining(message) };
    const answer = await newWorkspace().client.put(PATH, { postmortem_template }, at(1));
    expect(answer).toMatchObject(refusal(400, 'invalid_request', refused));
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

test('the gateway is told later if it cannot be reached', async () => {
  const { id, client } = newWorkspace();
  const unannounced = async () => database('unannounced_configurations').where({ workspace_id: id }).select('version');
  service.owners.isGatewayAway = true;
  try {
    expect((await client.put(PATH, { timeline_groups: [{ name: 'Mitigation' }] }, at(1))).status).toBe(200);
    expect([service.owners.announced.get(id), (await unannounced()).length]).toEqual([undefined, 1]);
  } finally {
    service.owners.isGatewayAway = false;
  }
  await eventually(async () => service.owners.announced.get(id) === 1 && (await unannounced()).length === 0);
});
