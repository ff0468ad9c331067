import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { configure } from '../configure.ts';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';
import { aTeam, aUser } from '../snapshots.ts';
import { anItem, transferWorkspace } from '../transfer/transfer.ts';

const service = await serviceForFile();
const { knex: database } = service;

type State = Record<string, unknown> & { revision: number; custom_fields: Record<string, unknown> };
type Write = readonly [method: string, path: string, body?: object];

const ROLES = ['scribe', 'constructor'].map((key) => ({ key, label: key, several_holders: true }));

const ALWAYS = [
  'status_changed_at',
  'first_acted_at',
  'last_event_at',
  'last_event_summary',
  'duration_seconds',
  'event_count',
  'investigation_summary',
  'postmortem_state',
];

/** The second one is large. */
const text = fc.constantFrom('', 'Äpfel', 'x'.repeat(5_000), 'digest');
const moment = fc.constantFrom(null, '2026-11-20T09:00:00.000Z', '2026-11-21T09:00:00.000Z');
const patch = fc.record(
  {
    title: fc.constantFrom('One', 'Two', 'Three'),
    external_id: fc.option(fc.uuid()),
    service: fc.constantFrom('', 'checkout', 'constructor'),
    regions: fc.subarray(['eu', 'us', '日本']),
    severity: fc.constantFrom('sev1', 'sev2', 'sev3'),
    severity_mode: fc.constantFrom('auto', 'manual'),
    status: fc.constantFrom('open', 'active', 'resolved'),
    issue_type: fc.constantFrom('ticket', 'incident', 'postmortem'),
    slack_channel_id: fc.constantFrom('', 'C1'),
    meet_url: fc.constantFrom('', 'https://meet.example/1'),
    doc_url: fc.constantFrom('', 'https://docs.example/1'),
    team_id: fc.constantFrom<unknown>(null, 'team'),
    impact_summary: text,
    customer_impact_status: fc.constantFrom('unknown', 'none', 'confirmed'),
    impact_started_at: moment,
    first_reported_at: moment,
    first_responded_at: moment,
    recovered_at: moment,
    incident_manager: fc.constantFrom('', 'user'),
    incident_responders: fc.subarray(['user', 'other']),
    roles: fc.record(
      { scribe: fc.subarray(['user', 'other']), constructor: fc.subarray(['user']) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const value = fc.oneof(
  text,
  fc.constantFrom<unknown>(null, 0, [], {}, { a: [null] }, { digest: `sha256:${'0'.repeat(64)}`, bytes: 9 }),
);
const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 8, arbitrary: patch.map((body): Write => ['PATCH', '', body]) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('plain', 'constructor', '__proto__'), value)
      .map((named): Write => ['PATCH', '/custom-fields', { values: [{ slug: named[0], value: named[1] }] }]),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Write>(
      ['POST', '/timeline', { body: 'x', started_at: '2026-11-20T09:00:00.000Z' }],
      ['POST', '/resolve', { resolution_note: 'Done' }],
      ['POST', '/close', {}],
      ['POST', '/reopen', {}],
      ['POST', '/archive', {}],
      ['POST', '/restore', {}],
      ['POST', '/restore', {}],
    ),
  },
);

/** Without what is not recorded. */
function known({ custom_fields, ...state }: State, notRecorded: readonly string[]) {
  const rest = (values: object, prefix = '') =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !notRecorded.includes(prefix + name)));
  return { ...rest(state), custom_fields: rest(custom_fields, 'custom_fields.') };
}

test('each revision is as it was answered, except of what is not recorded', async () => {
  const shown = { revisions: 0, large: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 20 }), async (writes) => {
      const workspace = freshWorkspace(service);
      for (const slug of ['plain', 'constructor', '__proto__']) await workspace.define({ slug, field_type: 'json' });
      await configure(database, workspace.id, { incident_roles: ROLES });
      // IDs are unique in the installation.
      const [team, user, other] = [10_000, 20_000, 30_000].map((first) => first + workspace.id) as [
        number,
        number,
        number,
      ];
      await service.owners.change(workspace.id, (data) => {
        data.teams = [aTeam(team)];
        data.users = [aUser(user), aUser(other)];
      });
      const { client } = workspace;
      const path = await workspace.declare({ plain: 'first' });
      const now = async () => (await client.get(path)).body.incident as State;
      let current = await now();
      const states = [current];
      for (const [method, more, body] of writes) {
        const headers = { 'If-Service-Resource-Version': String(current.revision) };
        const named = JSON.stringify(body)
          .replace('"team"', String(team))
          .replaceAll('"user"', `"${user}"`)
          .replaceAll('"other"', `"${other}"`);
        const { status, text } = await client.send(method, path + more, named, headers);
        expect([200, 201, 409, text]).toContain(status);
        current = await now();
        if (current.revision > states.length) states.push(current);
      }
      for (const state of states) {
        const { revision } = state;
        const answer = await client.get(`${path}?at_revision=${revision}`);
        expect([answer.status, answer.headers.get('Service-Resource-Version')]).toEqual([200, String(revision)]);
        const { incident, not_recorded: notRecorded } = answer.body as { incident: State; not_recorded: string[] };
        expect(known(incident, notRecorded)).toEqual(known(state, notRecorded));
        expect(notRecorded.slice(0, ALWAYS.length)).toEqual(ALWAYS);
        for (const field of notRecorded.slice(ALWAYS.length)) {
          const slug = field.split('.')[1];
          const was = JSON.stringify(slug === undefined ? state[field] : state.custom_fields[slug]);
          expect(was.length > 4_096 || was.startsWith('{"bytes":')).toBe(true);
          shown.large += 1;
        }
        shown.revisions += 1;
      }
    }),
    { numRuns: 30 },
  );
  expect(shown.revisions).toBeGreaterThan(150);
  expect(shown.large).toBeGreaterThan(5);
});

describe('an earlier revision', () => {
  const client = service.as();
  const declare = async () => {
    const { incident } = (await client.post('/api/v1/incidents', { title: 'First' })).body;
    return { id: incident.id as number, path: `/api/v1/incidents/${incident.id}` };
  };

  test('is one that the incident has had', async () => {
    const { path } = await declare();
    for (const [given, message] of [
      ['2', 'Must be at most 1, the current revision'],
      ['0', 'Must be at least 1'],
      ['1.5', 'Must be an integer'],
      ['', 'Must be an integer'],
    ]) {
      expect(await client.get(`${path}?at_revision=${given}`)).toMatchObject(
        refusal(400, 'invalid_request', { field: 'at_revision', message }),
      );
    }
    expect(await client.get('/api/v1/incidents/987654?at_revision=1')).toMatchObject(refusal(404, 'not_found'));
  });

  test('is no precondition of a change', async () => {
    const { path } = await declare();
    await client.patch(path, { title: 'Second' }, { 'If-Service-Resource-Version': '1' });
    const past = await client.get(`${path}?at_revision=1`);
    expect(past.body.incident).toMatchObject({ revision: 1, title: 'First' });
    const revision = past.headers.get('Service-Resource-Version') ?? '';
    expect(await client.patch(path, { title: 'Third' }, { 'If-Service-Resource-Version': revision })).toMatchObject(
      refusal(412, 'precondition_failed', { details: { current_revision: 2 } }),
    );
  });

  test('of an imported incident is as the import made it: its earlier changes elsewhere are not undone', async () => {
    const { client: importer, results } = await transferWorkspace(service);
    const author = { name: 'Ana', email: 'ana@acme.example' };
    const changes = [{ field: 'title', from: 'Long ago', to: 'Incident 1' }];
    const changelog = [{ changed_at: '2024-03-02T18:10:00.000Z', actor: author, changes }];
    const [{ incident_id: id }] = await results(anItem('1'));
    await results(anItem('1', { title: 'Renamed', status: 'resolved', changelog }));
    const states = [1, 2].map(async (revision) => importer.get(`/api/v1/incidents/${id}?at_revision=${revision}`));
    expect((await Promise.all(states)).map(({ body }) => body.incident)).toMatchObject([
      { title: 'Incident 1', status: 'closed', revision: 1 },
      { title: 'Renamed', status: 'resolved', revision: 2 },
    ]);
  });

  test('has the status that the configuration has replaced since', async () => {
    const owner = service.as({ workspace: { id: 19 } });
    const settings = '/api/v1/settings/configuration';
    const { configuration } = (await owner.get(settings)).body;
    const replaceBy = async (revision: number, body: object) =>
      owner.put(settings, body, { 'If-Service-Resource-Version': String(revision) });
    const old = { key: 'old', label: 'Old', is_default: false, is_terminal: false };
    const { workflow_statuses: own } = configuration;
    const statuses = own.map(({ order: _, ...status }: { order: number }) => status);
    const added = await replaceBy(configuration.revision, { workflow_statuses: [old, ...statuses] });
    const { incident } = (await owner.post('/api/v1/incidents', { title: 'x', status: 'old' })).body;
    const body = { workflow_statuses: statuses, replace: { statuses: { old: 'monitoring' } } };
    expect((await replaceBy(added.body.configuration.revision, body)).status).toBe(200);
    const path = `/api/v1/incidents/${incident.id}`;
    expect((await owner.get(path)).body.incident.status).toBe('monitoring');
    expect((await owner.get(`${path}?at_revision=1`)).body.incident.status).toBe('old');
  });

  test('is found behind a hundred thousand changes, and not behind too many bytes of them', async () => {
    const { id, path } = await declare();
    const change = async (from: number, to: number, changes: string) => {
      for (let start = from; start <= to; start += 20_000)
        await database.raw(
          `insert into changelog (workspace_id, incident_id, revision, actor, changed_at, changes)
           select workspace_id, id, n, '42', now(), ${changes}
           from incidents, generate_series(?::bigint, least(?::bigint, ?)) as n where id = ?`,
          [start, start + 19_999, to, id],
        );
      await database('incidents').where({ id }).update({ revision: to });
    };
    await change(2, 100_001, `jsonb_build_array(jsonb_build_object('field', 'title', 'from', 'R' || n - 1))`);
    expect((await client.get(`${path}?at_revision=1`)).body.incident.title).toBe('R1');

    expect((await client.get(`${path}?at_revision=70000`)).body.incident.title).toBe('R70000');
    const large = `jsonb_build_array(jsonb_build_object('field', 'impact_summary', 'from', repeat('x', 60000)))`;
    await change(100_002, 101_100, large);
    expect(await client.get(`${path}?at_revision=1`)).toMatchObject(
      refusal(400, 'invalid_request', { field: 'at_revision' }),
    );
    expect((await client.get(`${path}?at_revision=101000`)).status).toBe(200);
  });
});
