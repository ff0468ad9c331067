import { describe, expect, test } from '@jest/globals';
import { testClock } from '@tocsin/testing';
import { configure } from '../configure.ts';
import { serviceForFile } from '../service.ts';
import { aUser } from '../snapshots.ts';
import { transferOf } from '../transfer/transfer.ts';

const clock = testClock('2026-11-24T10:00:00.000Z');
const service = await serviceForFile({ clock });
let workspaces = 500;

const MONITOR = { name: 'Alertmanager', prefix: 'tcs_aaaa' };
const ROTATED = { name: 'Alertmanager', prefix: 'tcs_bbbb' };
const SCRIPT = { name: 'Deploy bot', prefix: 'tcs_cccc' };
const BROWSER = { name: 'Firefox on Linux', prefix: 'tcn_dddd' };
const OTHER_BROWSER = { name: 'Safari on iOS', prefix: 'tcn_eeee' };

/** A workspace with two users: 42 is Ana, 43 is Ben. */
async function aWorkspace() {
  workspaces += 1;
  const id = workspaces;
  const version = await service.owners.change(id, (data) => {
    data.users = [aUser(42, 'Ana'), aUser(43, 'Ben')];
  });
  const as = (userId: number, key?: { name: string; prefix: string }) =>
    service.as({ workspace: { id, version }, user_id: userId, ...(key !== undefined && { key }) });
  const sendAlert = async (status: 'firing' | 'resolved' = 'firing', name = 'Errors') => {
    const alert = { id: name, group: 'group', status, title: 'Many errors', started_at: '2026-11-24T09:00:00Z' };
    const { body } = await as(42, MONITOR).post('/api/v1/alerts', alert);
    expect(body).toMatchObject({ results: [{ identity: 'group' }] });
  };
  const incident = async () => (await as(42).get('/api/v1/incidents')).body.incidents[0];
  const path = async () => `/api/v1/incidents/${(await incident()).id}`;
  return { id, as, sendAlert, incident, path };
}
type Workspace = Awaited<ReturnType<typeof aWorkspace>>;

/** Changes the title, a minute later. */
async function act({ as, incident, path }: Workspace, userId: number, key?: { name: string; prefix: string }) {
  clock.advance(60_000);
  const { revision } = await incident();
  const headers = { 'If-Service-Resource-Version': String(revision) };
  const { status } = await as(userId, key).patch(await path(), { title: `At ${clock.now()}` }, headers);
  expect(status).toBe(200);
  return clock.now();
}

describe('what acts', () => {
  test('is named by what it made: the key of a monitor, of a script and of a session', async () => {
    const workspace = await aWorkspace();
    const { as, sendAlert, path } = workspace;
    await sendAlert();
    const declared = (await as(42).get(await path())).body.incident;
    expect(declared).toMatchObject({ created_by: '42', created_by_key: MONITOR });
    for (const [user, key] of [
      [42, SCRIPT],
      [43, BROWSER],
      [43, undefined],
    ] as const) {
      const { body } = await as(user, key).post(`${await path()}/timeline`, { body: 'Looking' });
      expect(body.event).toMatchObject({ created_by: String(user), created_by_key: key ?? null });
      expect((await as(42).get(`/api/v1/timeline/${body.event.id}`)).body.event.created_by_key).toEqual(key ?? null);
    }
    await as(43, BROWSER).post(`${await path()}/resolve`, { resolution_note: 'Works' });
    const { events } = (await as(42).get(`${await path()}/timeline`)).body;
    expect(events.map((event: Record<string, unknown>) => [event['type'], event['created_by_key']])).toEqual([
      ['alert', MONITOR],
      ['note', SCRIPT],
      ['note', BROWSER],
      ['note', null],
      ['resolution', BROWSER],
    ]);
  });

  test('is still named on another server, by an export and an import', async () => {
    const workspace = await aWorkspace();
    await workspace.sendAlert();
    const acted = await act(workspace, 43, BROWSER);
    const lines = await transferOf(workspace.as(42, SCRIPT)).exported();
    const other = await aWorkspace();
    const { results, exported } = transferOf(other.as(42, SCRIPT));
    expect(await results(...lines)).toMatchObject([{ outcome: 'created' }]);
    expect(await other.incident()).toMatchObject({ created_by_key: MONITOR, first_acted_at: acted });
    expect((await other.as(42).get(`${await other.path()}/timeline`)).body.events).toMatchObject([
      { type: 'alert', created_by_key: MONITOR },
    ]);
    const { changelog } = (await other.as(42).get(`${await other.path()}/changelog`)).body;
    expect(changelog.map((entry: { api_key: object }) => entry.api_key)).toEqual([SCRIPT, BROWSER]);
    expect(await results(...lines)).toMatchObject([{ outcome: 'unchanged' }]);
    const { external: _, ...line } = lines[0] as Record<string, unknown>;
    expect(await exported()).toMatchObject([
      { created_by_key: line['created_by_key'], changelog: line['changelog'], first_acted_at: acted },
    ]);
  });

  test('is named by a follow-up and a relation', async () => {
    const workspace = await aWorkspace();
    const { as, sendAlert, path } = workspace;
    await sendAlert();
    const first = await path();
    const { body } = await as(42).post('/api/v1/incidents', { title: 'Another' });
    const [followUp, relation] = [
      await as(43, SCRIPT).post(`${first}/follow-ups`, { title: 'Later' }),
      await as(43, SCRIPT).post(`${first}/relations`, { type: 'related', incident_id: body.incident.id }),
    ];
    expect(followUp.body.follow_up).toMatchObject({ created_by: '43', created_by_key: SCRIPT });
    expect(relation.body.relation).toMatchObject({ created_by: '43', created_by_key: SCRIPT });
    expect((await as(42).get(`/api/v1/incidents/${body.incident.id}/relations`)).body.relations).toMatchObject([
      { created_by_key: SCRIPT },
    ]);
    expect((await as(42).get('/api/v1/follow-ups')).body.follow_ups).toMatchObject([{ created_by_key: SCRIPT }]);
  });

  test('is named in the post-mortem: a key with its owner, and in a session the person alone', async () => {
    const workspace = await aWorkspace();
    const { as, sendAlert, path } = workspace;
    await sendAlert();
    await act(workspace, 42, SCRIPT);
    await act(workspace, 43, BROWSER);
    const { postmortem } = (await as(42).get(`${await path()}/postmortem`)).body;
    expect(postmortem.people).toEqual([{ role: 'declared_by', person: { id: 42, name: 'Ana', api_key: MONITOR } }]);
    expect(postmortem.activity.map(({ author }: { author: object }) => author)).toEqual([
      { id: 42, name: 'Ana', api_key: MONITOR },
      { id: 42, name: 'Ana', api_key: SCRIPT },
      { id: 43, name: 'Ben', api_key: BROWSER },
    ]);
    const { text } = await as(42).get(`${await path()}/postmortem`, { Accept: 'text/markdown' });
    expect(text).toContain('| Declared by | Alertmanager (key of Ana) |');
    expect(text).toMatch(/\*\* Deploy bot \(key of Ana\): change\n/);
    expect(text).toMatch(/\*\* Ben: change\n/);
  });
});

describe('the first act of a person who did not declare the incident', () => {
  test.each([
    ['a session, for a monitor of the same user', 42, BROWSER],
    ['a key, for a monitor of the same user', 42, SCRIPT],
    ['a key of another user', 43, SCRIPT],
    ['a key of another user with the name of the monitor', 43, ROTATED],
  ])('is that of %s', async (_, user, key) => {
    const workspace = await aWorkspace();
    await workspace.sendAlert();
    expect((await workspace.incident()).first_acted_at).toBeNull();
    const first = await act(workspace, user, key);
    await act(workspace, 43, BROWSER);
    expect(await workspace.incident()).toMatchObject({ first_acted_at: first, first_responded_at: null });
  });

  test.each([
    ['the monitor itself', MONITOR, 42, MONITOR],
    ['the monitor with another token', MONITOR, 42, ROTATED],
    ['the person in the same session', BROWSER, 42, BROWSER],
    ['the person in another session', BROWSER, 42, OTHER_BROWSER],
    ['the person with a key', BROWSER, 42, SCRIPT],
    ['what says no key', MONITOR, 43, undefined],
  ])('is not that of %s', async (_, declarer, user, key) => {
    const workspace = await aWorkspace();
    if (declarer === MONITOR) await workspace.sendAlert();
    else await workspace.as(42, declarer).post('/api/v1/incidents', { title: 'Down' });
    await act(workspace, user, key);
    expect((await workspace.incident()).first_acted_at).toBeNull();
  });

  test('may be anything that raises the revision, and is no alert', async () => {
    const noted = await aWorkspace();
    await noted.sendAlert();
    clock.advance(60_000);
    await noted.sendAlert('firing', 'Others');
    await noted.sendAlert('resolved');
    expect((await noted.incident()).first_acted_at).toBeNull();
    await noted.as(43, BROWSER).post(`${await noted.path()}/timeline`, { body: 'Looking' });
    expect((await noted.incident()).first_acted_at).toBe(clock.now());

    const resolved = await aWorkspace();
    await resolved.sendAlert();
    clock.advance(60_000);
    const path = await resolved.path();
    await resolved.as(43, BROWSER).post(`${path}/resolve`);
    expect((await resolved.as(42).get(path)).body.incident.first_acted_at).toBe(clock.now());
  });

  test('nobody knows it of an incident of which nobody knows what declared it', async () => {
    const workspace = await aWorkspace();
    await workspace.as(42).post('/api/v1/incidents', { title: 'Of an earlier release' });
    await act(workspace, 43, BROWSER);
    expect((await workspace.incident()).first_acted_at).toBeNull();
  });

  test('is the time to response of statistics and post-mortems until somebody records another one', async () => {
    const workspace = await aWorkspace();
    const { as, sendAlert, incident, path } = workspace;
    await sendAlert();
    const measured = async () => {
      const [service_] = (await as(42).get('/api/v1/incidents/statistics')).body.statistics.by_service;
      return service_?.time_to_response ?? null;
    };
    expect(await measured()).toBeNull();
    const { impact_started_at: began } = await incident();
    const seconds = (Date.parse(await act(workspace, 43, BROWSER)) - Date.parse(began)) / 1_000;
    expect(await measured()).toMatchObject({ incidents: 1, derived: 1, median_seconds: seconds, p90_seconds: seconds });
    const { postmortem } = (await as(42).get(`${await path()}/postmortem`)).body;
    expect(postmortem.response_seconds).toBe(seconds);
    expect(postmortem.moments.map(({ name }: { name: string }) => name)).toContain('first_acted_at');

    const recorded = new Date(Date.parse(began) + 90_000).toISOString();
    const headers = { 'If-Service-Resource-Version': String((await incident()).revision) };
    await as(43, BROWSER).patch(await path(), { first_responded_at: recorded }, headers);
    expect(await measured()).toMatchObject({ incidents: 1, derived: 0, median_seconds: 90, p90_seconds: 90 });
    expect((await as(42).get(`${await path()}/postmortem`)).body.postmortem.response_seconds).toBe(90);
  });
});

test("a post-mortem has the times of the workspace's time zone, and names it", async () => {
  const workspace = await aWorkspace();
  const { as, path } = workspace;
  await configure(service.knex, workspace.id, { time_zone: 'Europe/Berlin' });
  await as(42, BROWSER).post('/api/v1/incidents', { title: 'Down', impact_started_at: '2026-07-01T22:30:00Z' });
  await as(43, BROWSER).post(`${await path()}/timeline`, { body: 'Looking', at: '2026-01-01T12:00:00Z' });
  const { text } = await as(42).get(`${await path()}/postmortem`, { Accept: 'text/markdown' });
  expect(text).toContain('| Moment | Time (Europe/Berlin) | After the previous |');
  expect(text).toContain('| Impact started | 2026-07-02 00:30:00 |');
  expect(text).toContain('Times are those of Europe/Berlin.\n\n- **2026-01-01 13:00:00** Ben: note\n\n  Looking');
  expect(text).toMatch(/Made by Tocsin at 2026-11-24 \d\d:\d\d:\d\d Europe\/Berlin\.\n$/);
});
