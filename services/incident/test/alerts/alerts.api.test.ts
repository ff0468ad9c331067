import { describe, expect, test } from '@jest/globals';
import { type Answer, type Client, testClock, type TestUser } from '@tocsin/testing';
import { configure } from '../configure.ts';
import { serviceForFile } from '../service.ts';

const clock = testClock('2026-11-24T10:00:00.000Z');
const service = await serviceForFile({ clock });

const ALERTMANAGER = '/api/v1/alerts/alertmanager';
let workspaces = 100;

type Resource = Record<string, unknown> & { id: number; revision: number };

/** A monitor in a workspace of its own. */
function monitorOf(options: { keyId?: number; workspaceId?: number; workspace?: TestUser['workspace'] } = {}) {
  workspaces += 1;
  const workspaceId = options.workspaceId ?? workspaces;
  const user = {
    workspace: { id: workspaceId, version: 1, ...options.workspace },
    key_id: options.keyId ?? workspaceId,
    key: { name: 'Prometheus', prefix: 'tcs_1234' },
  };
  const client = service.as(user);
  const incidents = async (query = ''): Promise<Resource[]> =>
    (await client.get(`/api/v1/incidents?sort=created_at&direction=asc${query}`)).body.incidents;
  return {
    client,
    workspaceId,
    incidents,
    incident: async (): Promise<Resource> => (await incidents())[0] as Resource,
    timeline: async (id?: number): Promise<Resource[]> => {
      const of = id ?? (await incidents())[0]?.id;
      return (await client.get(`/api/v1/incidents/${of}/timeline?limit=100`)).body.events;
    },
    /** Sends alerts of one group in Alertmanager's form. */
    send: async (
      alerts: readonly object[],
      { query = '', groupKey = 'group', ...more }: { query?: string; [property: string]: unknown } = {},
    ) => client.post(`${ALERTMANAGER}${query}`, { version: '4', groupKey, alerts, ...more }),
  };
}

const minutes = (count: number) => new Date(Date.parse('2026-11-24T09:00:00Z') + count * 60_000).toISOString();
const alert = (name: string, start: number, more: object = {}) => ({
  status: 'firing',
  labels: { alertname: name, severity: 'critical', instance: `${name}-1` },
  annotations: { summary: `${name} is high` },
  startsAt: minutes(start),
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'https://prometheus.example.com/graph',
  fingerprint: `f-${name}`,
  ...more,
});
const ended = (name: string, start: number, end: number) =>
  alert(name, start, { status: 'resolved', endsAt: minutes(end) });

const outcomes = ({ status, body }: Answer) => [
  status,
  ...body.results.map(({ outcome }: { outcome: string }) => outcome),
];

describe('an alert', () => {
  test('declares an incident once, with what the monitor says', async () => {
    const monitor = monitorOf();
    const first = await monitor.send([alert('Errors', 0)], { commonAnnotations: { summary: 'Many errors' } });
    expect(first.body).toEqual({
      results: [
        {
          identity: 'group',
          outcome: 'declared',
          incident: { id: expect.any(Number), human_id: 'INC-1' },
          alerts: [{ id: 'f-Errors', outcome: 'started' }],
        },
      ],
      left_out: [],
    });
    expect(first.status).toBe(202);
    expect(outcomes(await monitor.send([alert('Errors', 0)]))).toEqual([202, 'unchanged']);
    expect(await monitor.incidents()).toEqual([
      expect.objectContaining({
        title: 'Many errors',
        severity: 'sev1',
        severity_mode: 'auto',
        status: 'open',
        impact_started_at: minutes(0),
        event_count: 1,
        revision: 2,
      }),
    ]);
    expect(await monitor.timeline()).toEqual([
      expect.objectContaining({
        type: 'alert',
        source: 'alert',
        source_ref: 'f-Errors',
        title: 'Firing: Errors',
        started_at: minutes(0),
        body: expect.stringContaining('- severity: critical'),
        evidence_links: [{ source: 'alert', label: 'Query', url: 'https://prometheus.example.com/graph' }],
      }),
    ]);
  });

  test('that others of its group join and that ends is one event each, and the last end sets the recovery', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)]);
    expect(outcomes(await monitor.send([alert('A', 0), alert('B', 1), alert('C', 2)]))).toEqual([202, 'added']);
    expect(outcomes(await monitor.send([ended('A', 0, 5), alert('B', 1)]))).toEqual([202, 'ended']);
    expect(await monitor.incident()).toMatchObject({ recovered_at: null, event_count: 3 });
    await monitor.send([ended('B', 1, 6), ended('C', 2, 7)]);
    await monitor.send([ended('B', 1, 6), ended('C', 2, 7)]);
    expect(await monitor.incident()).toMatchObject({ recovered_at: minutes(7), status: 'open', event_count: 4 });
    expect((await monitor.timeline()).map(({ title }) => title)).toEqual([
      'Firing: A',
      'Firing: 2 alerts, B among them',
      'Resolved: A',
      'Resolved: 2 alerts, B among them',
    ]);
  });

  test('fires again in its open incident, which has not recovered then', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)]);
    await monitor.send([ended('A', 0, 5)]);
    expect(outcomes(await monitor.send([alert('A', 6)]))).toEqual([202, 'added']);
    expect(await monitor.incident()).toMatchObject({ recovered_at: null, event_count: 3 });
    // Late news of the first firing.
    for (const late of [alert('A', 0), ended('A', 0, 5)])
      expect(outcomes(await monitor.send([late]))).toEqual([202, 'unchanged']);
  });

  test('that has ended before anybody said that it fires declares nothing, and its late start neither', async () => {
    const monitor = monitorOf();
    const { body } = await monitor.send([ended('A', 0, 5)]);
    expect(body.results[0]).toMatchObject({ outcome: 'unchanged', reason: 'It is not known to fire', incident: null });
    expect(outcomes(await monitor.send([alert('A', 0)]))).toEqual([202, 'unchanged']);
    expect(await monitor.incidents()).toEqual([]);
  });

  test('is over with its group, even if the notification does not name it, unless some were cut off', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0), alert('B', 1), alert('C', 1)]);
    await monitor.send([ended('A', 0, 5)], { status: 'resolved', truncatedAlerts: 1 });
    expect(await monitor.incident()).toMatchObject({ recovered_at: null });
    await monitor.send([ended('A', 0, 5)], { status: 'resolved' });
    expect(await monitor.incident()).toMatchObject({ recovered_at: minutes(5) });
    expect((await monitor.timeline()).map(({ title }) => title)).toContain('Resolved: 2 alerts');
  });

  test('that have ended leave the incident open while others may fire that were cut off', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)], { truncatedAlerts: 1 });
    const end = await monitor.send([ended('A', 0, 5)], { status: 'resolved', truncatedAlerts: 1 });
    expect(outcomes(end)).toEqual([202, 'ended']);
    expect(await monitor.incident()).toMatchObject({ recovered_at: null });
    expect(outcomes(await monitor.send([alert('B', 0)]))).toEqual([202, 'added']);
    await monitor.send([ended('B', 0, 7)], { status: 'resolved' });
    expect(await monitor.incident()).toMatchObject({ recovered_at: minutes(7) });
    expect(await monitor.incidents()).toHaveLength(1);
  });

  test('whose group is resolved without an end has ended when that is heard', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0), alert('B', 70)]);
    await monitor.send([alert('A', 0, { status: 'resolved' })], { status: 'resolved' });
    expect(await monitor.incident()).toMatchObject({ recovered_at: clock.now() });
  });

  test('sent by two monitors at once declares one incident', async () => {
    const monitor = monitorOf();
    const answers = await Promise.all(Array.from({ length: 6 }, async () => monitor.send([alert('A', 0)])));
    expect(answers.map((answer) => outcomes(answer).join(' ')).sort()).toEqual([
      '202 declared',
      ...Array<string>(5).fill('202 unchanged'),
    ]);
    expect(await monitor.incidents()).toHaveLength(1);
  });

  test('of another key is another one', async () => {
    const one = monitorOf();
    const other = monitorOf({ workspaceId: one.workspaceId, keyId: 7 });
    await one.send([alert('A', 0)]);
    expect(outcomes(await other.send([alert('A', 0)]))).toEqual([202, 'declared']);
  });

  test('is one group by itself with group=alert', async () => {
    const monitor = monitorOf();
    const answer = await monitor.send([alert('A', 0), alert('B', 0), alert('A', 0)], { query: '?group=alert' });
    expect(outcomes(answer)).toEqual([202, 'declared', 'declared']);
    expect((await monitor.incidents()).map(({ title }) => title)).toEqual(['A is high', 'B is high']);
  });
});

describe('the end of all alerts', () => {
  const query = '?on_end=resolve';

  test('resolves an incident on which nobody has acted, and a new firing reopens it', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)], { query });
    expect(outcomes(await monitor.send([ended('A', 0, 5)], { query }))).toEqual([202, 'ended']);
    expect(await monitor.incident()).toMatchObject({ status: 'resolved', issue_type: 'postmortem' });
    clock.advance(3_599_000);
    expect(outcomes(await monitor.send([alert('A', 50)], { query }))).toEqual([202, 'reopened']);
    expect(await monitor.incident()).toMatchObject({ status: 'active', issue_type: 'incident', recovered_at: null });
    await monitor.send([ended('A', 50, 55)], { query });
    expect(await monitor.incident()).toMatchObject({ status: 'resolved', recovered_at: minutes(55) });
    clock.advance(3_601_000);
    expect(outcomes(await monitor.send([alert('A', 59)], { query }))).toEqual([202, 'declared']);
    expect(await monitor.incidents()).toHaveLength(2);
  });

  test('only adds an event if somebody has acted on the incident', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)], { query });
    const { id, revision } = await monitor.incident();
    await monitor.client.patch(
      `/api/v1/incidents/${id}`,
      { impact_summary: 'I look', recovered_at: minutes(3) },
      { 'If-Service-Resource-Version': String(revision) },
    );
    await monitor.send([ended('A', 0, 5)], { query });
    expect(await monitor.incident()).toMatchObject({ status: 'open', recovered_at: minutes(3), event_count: 2 });
  });

  test('that somebody has resolved before is noted, and a new firing declares another incident', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)], { query });
    const { id } = await monitor.incident();
    await monitor.client.post(`/api/v1/incidents/${id}/resolve`);
    expect(outcomes(await monitor.send([alert('A', 0)], { query }))).toEqual([202, 'closed_by_person']);
    expect(outcomes(await monitor.send([ended('A', 0, 5)], { query }))).toEqual([202, 'ended']);
    expect(outcomes(await monitor.send([alert('A', 6)], { query }))).toEqual([202, 'declared']);
  });

  test('of an archived incident is said', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)]);
    const { id } = await monitor.incident();
    await monitor.client.post(`/api/v1/incidents/${id}/archive`);
    const { body } = await monitor.send([ended('A', 0, 5)]);
    expect(body.results).toMatchObject([{ outcome: 'ended', reason: 'The incident is archived' }]);
  });
});

describe('an incident that a person has closed', () => {
  const resolved = async (monitor: ReturnType<typeof monitorOf>, verb = 'resolve', more: object = {}) => {
    await monitor.send([alert('A', 0, more)]);
    const incident = await monitor.incident();
    await monitor.client.post(`/api/v1/incidents/${incident.id}/${verb}`);
    return incident;
  };
  const relations = async ({ client }: ReturnType<typeof monitorOf>, id: number) =>
    (await client.get(`/api/v1/incidents/${id}/relations`)).body.relations;

  test.each(['resolve', 'close', 'archive'])('with %s stands for the firing that they saw, for a day', async (verb) => {
    const monitor = monitorOf();
    const { id } = await resolved(monitor, verb);
    const closedAt = clock.now();
    const { body } = await monitor.send([alert('A', 0)]);
    const again = new Date(Date.parse(closedAt) + 86_400_000).toISOString();
    expect(body.results).toMatchObject([
      { outcome: 'closed_by_person', incident: { id }, declared_again_at: again, alerts: [{ outcome: 'unchanged' }] },
    ]);
    const { notifications } = (await monitor.client.get('/api/v1/alerts')).body;
    expect(notifications[0]).toMatchObject({ outcome: 'closed_by_person', incident: { id } });
    expect(notifications[0].reason).toMatch(/^User 42 has closed the incident; it is declared again/);
    clock.advance(86_399_000);
    expect(outcomes(await monitor.send([alert('A', 0)]))).toEqual([202, 'closed_by_person']);
    clock.advance(1_000);
    expect(outcomes(await monitor.send([alert('A', 0)]))).toEqual([202, 'declared']);
    expect(outcomes(await monitor.send([alert('A', 0)]))).toEqual([202, 'unchanged']);
    const another = (await monitor.incidents()).at(-1);
    // An archived incident is read-only.
    const related = verb === 'archive' ? [] : [{ type: 'related', incident: { id } }];
    expect(await relations(monitor, another?.id ?? 0)).toMatchObject(related);
    expect(await monitor.timeline(another?.id)).toMatchObject([{ title: 'Firing: A' }]);
  });

  test('does not stand for what began later, for what nobody had reported, or for a firing without a start', async () => {
    const later = monitorOf();
    await resolved(later);
    const began = new Date(Date.parse(clock.now()) + 60_000).toISOString();
    expect(outcomes(await later.send([alert('A', 0, { startsAt: began })]))).toEqual([202, 'declared']);
    const other = monitorOf();
    await resolved(other);
    expect(outcomes(await other.send([alert('A', 0), alert('B', 0)]))).toEqual([202, 'declared']);
    expect(await other.timeline((await other.incidents())[1]?.id)).toMatchObject([
      { title: 'Firing: 2 alerts, A among them' },
    ]);
    const without = monitorOf();
    const { id } = await resolved(without, 'resolve', { startsAt: undefined });
    expect(outcomes(await without.send([alert('A', 0, { startsAt: undefined })]))).toEqual([202, 'declared']);
    expect((await without.incident()).revision).toBeGreaterThan(3);
    expect(await relations(without, id)).toHaveLength(1);
  });

  test('stands again once somebody reopens it', async () => {
    const monitor = monitorOf();
    const { id } = await resolved(monitor);
    await monitor.client.post(`/api/v1/incidents/${id}/reopen`);
    expect(outcomes(await monitor.send([alert('A', 0)]))).toEqual([202, 'unchanged']);
  });

  test('as a duplicate of an open one leaves its alerts to that one', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)]);
    const { id } = await monitor.incident();
    const { incident } = (await monitor.client.post('/api/v1/incidents', { title: 'Known' })).body;
    const duplicate = { type: 'duplicate_of', incident_id: incident.id };
    await monitor.client.post(`/api/v1/incidents/${id}/relations`, duplicate);
    await monitor.client.post(`/api/v1/incidents/${id}/resolve`);
    const { body } = await monitor.send([alert('A', 0)]);
    expect(body.results).toMatchObject([{ outcome: 'unchanged', incident: { id: incident.id } }]);
    await monitor.send([alert('A', 0), alert('B', 0)]);
    await monitor.send([ended('A', 0, 5), ended('B', 0, 6)]);
    expect(await monitor.timeline(incident.id)).toMatchObject([
      { title: 'Firing: B' },
      { title: 'Resolved: 2 alerts, A among them' },
    ]);
    expect((await monitor.client.get(`/api/v1/incidents/${incident.id}`)).body.incident).toMatchObject({
      status: 'open',
      recovered_at: minutes(6),
    });
  });
});

describe('a pair with different clocks', () => {
  test('ends a firing whichever start it names', async () => {
    const monitor = monitorOf();
    const query = '?on_end=resolve';
    await monitor.send([alert('A', 0)], { query });
    await monitor.send([alert('A', 5)], { query });
    expect(outcomes(await monitor.send([ended('A', 0, 4)], { query }))).toEqual([202, 'unchanged']);
    expect(outcomes(await monitor.send([ended('A', 0, 20)], { query }))).toEqual([202, 'ended']);
    // The other one has a firing that this end does not name.
    expect(outcomes(await monitor.send([alert('A', 5)], { query }))).toEqual([202, 'reopened']);
    expect(outcomes(await monitor.send([ended('A', 5, 25)], { query }))).toEqual([202, 'ended']);
    for (const late of [alert('A', 0), alert('A', 5), ended('A', 0, 20)])
      expect(outcomes(await monitor.send([late], { query }))).toEqual([202, 'unchanged']);
  });

  test('that goes on reporting a firing after its end means that it fires', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)]);
    await monitor.send([ended('A', 0, 5)]);
    clock.advance(600_000);
    expect(outcomes(await monitor.send([alert('A', 0)]))).toEqual([202, 'unchanged']);
    clock.advance(1);
    expect(outcomes(await monitor.send([alert('A', 0)]))).toEqual([202, 'added']);
  });
});

test('the recovery is the latest of all ends, in whatever order they come', async () => {
  const monitor = monitorOf();
  await monitor.send([alert('A', 0), alert('B', 0)]);
  await monitor.send([ended('A', 0, 30)]);
  await monitor.send([ended('B', 0, 20)]);
  expect(await monitor.incident()).toMatchObject({ recovered_at: minutes(30) });
});

describe('an alert in another group of its monitor', () => {
  const query = '?on_end=resolve';

  test('takes its incident with it', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)], { query });
    const moved = await monitor.send([alert('A', 0)], { query, groupKey: 'edited' });
    expect(outcomes(moved)).toEqual([202, 'unchanged']);
    expect(outcomes(await monitor.send([ended('A', 0, 5)], { query, groupKey: 'edited' }))).toEqual([202, 'ended']);
    expect(await monitor.incidents()).toMatchObject([{ status: 'resolved', recovered_at: minutes(5) }]);
  });

  test('that has an open incident leaves its own one, which ends', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)], { query });
    await monitor.send([alert('B', 0)], { query, groupKey: 'other' });
    await monitor.send([alert('B', 0), alert('A', 0)], { query, groupKey: 'other' });
    const [first, second] = await monitor.incidents();
    expect([first, second]).toMatchObject([{ status: 'resolved' }, { status: 'open' }]);
    expect((await monitor.timeline(first?.id)).map(({ title }) => title)).toEqual(['Firing: A', 'In another group: A']);
  });

  test('with the same identity and other labels is another alert', async () => {
    const monitor = monitorOf();
    const of = (host: string) => alert('A', 0, { labels: { host } });
    await monitor.send([of('one')], { groupKey: 'one' });
    expect(outcomes(await monitor.send([of('two')], { groupKey: 'two' }))).toEqual([202, 'declared']);
  });
});

test('a key that replaces another one is the same monitor', async () => {
  const monitor = monitorOf();
  const query = '?on_end=resolve&new_incidents=1';
  await monitor.send([alert('A', 0)], { query });
  const rotated = service.as({
    ...{ workspace: { id: monitor.workspaceId, version: 1 }, key_id: 990_001, first_key_id: monitor.workspaceId },
    key: { name: 'Prometheus', prefix: 'tcs_5678' },
  });
  const send = async (alerts: readonly object[], groupKey = 'group') =>
    outcomes(await rotated.post(`${ALERTMANAGER}${query}`, { version: '4', groupKey, alerts }));
  expect(await send([alert('A', 0)])).toEqual([202, 'unchanged']);
  expect(await send([alert('B', 0)], 'other')).toEqual([202, 'collected']);
  expect(await send([ended('A', 0, 5)])).toEqual([202, 'ended']);
  const { notifications } = (await rotated.get('/api/v1/alerts?key_id=990001')).body;
  expect(notifications).toHaveLength(3);
  expect(notifications[0]).toMatchObject({ api_key: { id: 990_001, prefix: 'tcs_5678' } });
});

test('firing and ending in turns declares no more incidents a minute than a storm', async () => {
  const monitor = monitorOf();
  clock.toNextMinute();
  const query = '?on_end=resolve&new_incidents=3&reopen_within=0';
  for (let index = 0; index < 10; index += 1) {
    const groupKey = `g${index}`;
    const expected = index < 3 ? 'declared' : 'collected';
    expect(outcomes(await monitor.send([alert(`F${index}`, 0)], { query, groupKey }))).toEqual([202, expected]);
    expect(outcomes(await monitor.send([ended(`F${index}`, 0, 5)], { query, groupKey }))).toEqual([202, 'ended']);
  }
  expect(await monitor.incidents()).toMatchObject([
    { title: 'F0 is high' },
    { title: 'F1 is high' },
    { title: '8 alert groups from Prometheus', status: 'resolved' },
  ]);
});

describe('lifecycle=alert', () => {
  test('matches until somebody acts, and nothing else', async () => {
    const monitor = monitorOf();
    await monitor.send([alert('A', 0)]);
    await monitor.client.post('/api/v1/incidents', { title: 'By a person' });
    const titles = async (query: string) => (await monitor.incidents(query)).map(({ title }) => title);
    expect(await titles('&lifecycle=alert')).toEqual(['A is high']);
    expect(await titles('&lifecycle=alert&lifecycle=incident')).toEqual(['A is high', 'By a person']);
    await monitor.send([ended('A', 0, 5)]);
    expect(await titles('&lifecycle=alert')).toEqual(['A is high']);
    const { id } = await monitor.incident();
    await monitor.client.post(`/api/v1/incidents/${id}/timeline`, { body: 'I look' });
    expect(await titles('&lifecycle=alert')).toEqual([]);
  });
});

describe('the event of several alerts', () => {
  const pod = (name: string, more: object = {}) =>
    alert('Crash', 0, {
      fingerprint: name,
      labels: { alertname: 'Crash', namespace: 'shop', pod: name },
      annotations: { description: `Pod ${name} restarts`, runbook_url: 'https://wiki.example.com/crash' },
      generatorURL: `https://prometheus.example.com/${name}`,
      ...more,
    });

  test('says of each what distinguishes it, and what they have in common once', async () => {
    const monitor = monitorOf();
    const values = [{ valueString: '[ value=7 ]' }, { imageURL: 'https://grafana.example.com/1.png' }];
    await monitor.send(
      values.map((more, index) => pod(`p${index}`, more)),
      { groupLabels: { alertname: 'Crash', namespace: 'shop' } },
    );
    expect(await monitor.incident()).toMatchObject({ title: 'Crash (shop)' });
    const [event] = await monitor.timeline();
    expect(event?.['body']).toBe(
      `- Crash (pod: p0): Pod p0 restarts [ value=7 ]
- Crash (pod: p1): Pod p1 restarts

All of them:

- alertname: Crash
- namespace: shop

Reported with the API key Prometheus.`,
    );
    expect(event?.['evidence_links']).toEqual([
      { source: 'alert', label: 'Runbook', url: 'https://wiki.example.com/crash' },
      { source: 'alert', label: 'Query', url: 'https://prometheus.example.com/p0' },
      { source: 'alert', label: 'Query', url: 'https://prometheus.example.com/p1' },
    ]);
    expect(event?.['attachments']).toMatchObject([
      {
        ...{ filename: '1.png', content_type: 'image/png', size_bytes: 0 },
        ...{ url: 'https://grafana.example.com/1.png', url_available: true },
      },
    ]);
  });

  test('shows the first 20 and their links, and the response says that there are more', async () => {
    const monitor = monitorOf();
    const { body } = await monitor.send(Array.from({ length: 30 }, (_, index) => pod(`p${index}`)));
    expect(body.left_out).toEqual([
      { field: 'alerts', reason: 'Only 20 of 30 are shown' },
      { field: 'links', reason: 'Only 20 of 31 are kept' },
    ]);
    const [event] = await monitor.timeline();
    expect(event?.['body']).toMatch(/p19[^]*- and 10 more/);
    expect(event?.['evidence_links']).toHaveLength(20);
  });

  test('is never longer than other events', async () => {
    const monitor = monitorOf();
    const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`label${index}`, 'x'.repeat(80)]));
    await monitor.send([pod('p0', { labels, annotations: {} }), pod('p1', { labels, annotations: {} })]);
    for (const { body, title } of await monitor.timeline()) {
      expect(String(body).length).toBeLessThanOrEqual(65_536);
      expect(String(title).length).toBeLessThanOrEqual(255);
    }
    expect(String((await monitor.incident())['title']).length).toBeLessThanOrEqual(255);
  });

  test('has times in the time zone of the workspace', async () => {
    const monitor = monitorOf();
    await configure(service.knex, monitor.workspaceId, { time_zone: 'Europe/Berlin' });
    await monitor.send([alert('A', 0)]);
    await monitor.send([ended('A', 0, 5)]);
    const events = await monitor.timeline();
    expect(events[1]?.['body']).toContain(
      'It fired from 2026-11-24 10:00:00 (Europe/Berlin) to 2026-11-24 10:05:00 (Europe/Berlin).',
    );
  });
});

describe('where an alert goes', () => {
  test('follows from severities, slugs and names in monitoring', async () => {
    const monitor = monitorOf();
    await service.owners.change(monitor.workspaceId, (data) => {
      data.teams.push({ id: 900_001, revision: 1, name: 'Pay', slug: 'pay', parent_team_id: null, archived_at: null });
      const common = { revision: 1, tier: 't1', owner_team_id: 900_001, archived_at: null };
      data.services.push({
        ...common,
        id: 900_002,
        name: 'Checkout',
        slug: 'checkout',
        observability_names: ['Shop-API'],
      });
    });
    const cases: [object, string, object][] = [
      [{ severity: 'SEV 2', service: 'CHECKOUT' }, '', { severity: 'sev2', service: 'checkout', team_id: 900_001 }],
      [{ severity: 'WARN', job: 'shop-api' }, '&service_label=job', { severity: 'sev3', service: 'checkout' }],
      [{ prio: 'info', service: 'x'.repeat(200) }, '&severity_label=prio', { severity: 'sev4', team_id: null }],
      // Names that every object inherits, and the like as labels.
      [{}, '&service_label=constructor&severity_label=toString', { service: '', severity: 'sev3' }],
      [{ severity: 'info', hasOwnProperty: 1, toString: 1 }, '', { severity: 'sev4' }],
      [{ severity: 'who knows' }, '&service=checkout', { severity: 'sev3', service: 'checkout', team_id: 900_001 }],
    ];
    for (const [index, [labels, query, expected]] of cases.entries()) {
      const { body } = await monitor.send([alert(`A${index}`, 0, { labels })], { query: `?group=alert${query}` });
      const { incident } = (await monitor.client.get(`/api/v1/incidents/${body.results[0].incident.id}`)).body;
      expect(incident).toMatchObject(expected);
    }
  });

  test.each(['tocsin', 'alertmanager', 'pagerduty'])(
    'is refused or declared in the format %s with any names',
    async (format) => {
      const { client } = monitorOf();
      const odd: Record<string, unknown> = Object.fromEntries(
        ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'].map((name) => [name, 1]),
      );
      const bodies: Record<string, object> = {
        tocsin: { id: 'a', status: 'firing', title: 'A', labels: { toString: '1', constructor: '1' } },
        alertmanager: { groupKey: 'g', alerts: [{ status: 'firing', labels: { toString: odd, ...odd } }] },
        pagerduty: {
          event_action: 'trigger',
          payload: { summary: 'A', source: 'a', severity: 'info', custom_details: odd },
        },
      };
      const path = format === 'tocsin' ? '/api/v1/alerts' : `/api/v1/alerts/${format}`;
      for (const name of ['constructor', 'toString', 'valueOf', '__proto__']) {
        const answer = await client.post(`${path}?service_label=${name}&severity_label=${name}`, bodies[format] ?? {});
        expect([name, answer.status, answer.body]).toEqual([name, 202, expect.anything()]);
      }
    },
  );

  test('gets its refusal also when that cannot be recorded', async () => {
    const monitor = monitorOf();
    await service.knex.raw('alter table alert_notifications rename to away');
    const answer = await monitor.send([]);
    await service.knex.raw('alter table away rename to alert_notifications');
    expect(answer).toMatchObject({ status: 400, body: { field: 'alerts' } });
  });

  test('is raised by a more severe alert, until somebody has acted', async () => {
    const monitor = monitorOf();
    const of = (name: string, severity: string) => alert(name, 0, { labels: { alertname: name, severity } });
    await monitor.send([of('A', 'warning')]);
    await monitor.send([of('B', 'critical')]);
    expect(await monitor.incident()).toMatchObject({ severity: 'sev1' });
    await monitor.send([of('C', 'info')]);
    expect(await monitor.incident()).toMatchObject({ severity: 'sev1' });
  });

  test('is raised when the severity of a firing rises, which is an event, until somebody has acted', async () => {
    const monitor = monitorOf();
    const of = (severity: string) => alert('A', 0, { labels: { alertname: 'A', severity } });
    await monitor.send([of('warning')]);
    expect(outcomes(await monitor.send([of('error')]))).toEqual([202, 'added']);
    expect(await monitor.incident()).toMatchObject({ severity: 'sev2' });
    for (const severity of ['warning', 'error'])
      expect(outcomes(await monitor.send([of(severity)]))).toEqual([202, 'unchanged']);
    const { id } = await monitor.incident();
    await monitor.client.post(`/api/v1/incidents/${id}/timeline`, { body: 'I look' });
    const { body } = await monitor.send([of('critical')]);
    expect(body.results).toMatchObject([{ outcome: 'added', alerts: [{ outcome: 'raised' }] }]);
    expect(await monitor.incident()).toMatchObject({ severity: 'sev2' });
    expect((await monitor.timeline()).map(({ title }) => title)).toEqual([
      'Firing: A',
      'More severe: A',
      '',
      'More severe: A',
    ]);
  });

  test.each([
    ['on_end=never', 'on_end'],
    ['remind_after=-1', 'remind_after'],
    ['reopen_within=604801', 'reopen_within'],
    ['new_incidents=0', 'new_incidents'],
    ['sevice=checkout', 'sevice'],
  ])('refuses ?%s by name', async (query, field) => {
    const answer = await monitorOf().send([alert('A', 0)], { query: `?${query}` });
    expect(answer).toMatchObject({ status: 400, body: { field } });
  });
});

test('a storm becomes at most as many incidents a minute as the key may declare, and nothing is dropped', async () => {
  const monitor = monitorOf();
  clock.toNextMinute();
  const storm = async (from: number, to: number) =>
    monitor.send(
      Array.from({ length: to - from }, (_, index) => alert(`S${from + index}`, 0)),
      { query: '?group=alert&new_incidents=3' },
    );
  expect(outcomes(await storm(0, 10)).slice(1)).toEqual([
    ...Array<string>(3).fill('declared'),
    ...Array<string>(7).fill('collected'),
  ]);
  expect(outcomes(await storm(10, 12)).slice(1)).toEqual(['collected', 'collected']);
  const incidents = await monitor.incidents();
  expect(incidents.map(({ title }) => title)).toEqual(['S0 is high', 'S1 is high', '10 alert groups from Prometheus']);
  expect((await monitor.timeline(incidents[2]?.id)).map(({ title }) => title)).toEqual([
    'Firing: S2',
    'Firing: 7 alerts, S3 among them',
    'Firing: 2 alerts, S10 among them',
  ]);
  clock.toNextMinute();
  expect(outcomes(await storm(12, 13))).toEqual([202, 'declared']);
  // A collected alert ends in the incident that stands for it.
  expect(outcomes(await monitor.send([ended('S5', 0, 1)], { query: '?group=alert' }))).toEqual([202, 'ended']);
  const { notifications } = (await monitor.client.get('/api/v1/alerts')).body;
  expect(notifications.reduce((sum: number, { groups }: { groups: number }) => sum + groups, 0)).toBe(14);
});

describe("PagerDuty's form", () => {
  const send = async (client: Client, event_action: string, more: object = {}) =>
    client.post('/api/v1/alerts/pagerduty', {
      routing_key: 'R',
      event_action,
      dedup_key: 'k',
      payload: { summary: 'Slow', source: 'probe', severity: 'warning', custom_details: { p99: 4.1 } },
      ...more,
    });

  test('triggers, acknowledges and resolves', async () => {
    const monitor = monitorOf();
    const all = ['trigger', 'trigger', 'acknowledge', 'acknowledge', 'resolve', 'resolve', 'trigger'];
    const seen = [];
    for (const action of all) seen.push(outcomes(await send(monitor.client, action))[1]);
    expect(seen).toEqual(['declared', 'unchanged', 'added', 'unchanged', 'ended', 'unchanged', 'added']);
    expect(await monitor.incidents()).toMatchObject([{ title: 'Slow', severity: 'sev3', event_count: 4 }]);
  });

  test.each([
    [{ event_action: 'page' }, 'event_action'],
    [{ payload: 'Slow' }, 'payload'],
    [{ payload: { summary: ' ' } }, 'payload.summary'],
    [{ event_action: 'resolve', dedup_key: undefined }, 'dedup_key'],
  ])('refuses %j by name', async (more, field) => {
    expect(await send(monitorOf().client, 'trigger', more)).toMatchObject({ status: 400, body: { field } });
  });

  test('without a key is the same alert if it says the same', async () => {
    const monitor = monitorOf();
    const without = { dedup_key: undefined };
    await send(monitor.client, 'trigger', without);
    expect(outcomes(await send(monitor.client, 'trigger', without))).toEqual([202, 'unchanged']);
  });
});

describe('the form of Tocsin', () => {
  const body = { id: 'disk', status: 'firing', title: 'Disk full', severity: 'high', labels: { host: 'db' } };

  test('declares and ends, and knows every property', async () => {
    const monitor = monitorOf();
    const post = async (more: object) => monitor.client.post('/api/v1/alerts', { ...body, ...more });
    expect(outcomes(await post({ links: [{ url: 'https://wiki.example.com' }] }))).toEqual([202, 'declared']);
    expect(outcomes(await post({ id: 'cpu', group: 'disk', title: 'CPU' }))).toEqual([202, 'added']);
    expect(outcomes(await post({ status: 'resolved' }))).toEqual([202, 'ended']);
    expect(await monitor.incident()).toMatchObject({ title: 'Disk full', severity: 'sev2', recovered_at: null });
    expect(await post({ sevrity: 'high' })).toMatchObject({
      status: 400,
      body: { code: 'unknown_field', field: 'sevrity' },
    });
  });
});

describe('a bad notification', () => {
  const good = alert('A', 0);
  test.each<[string, unknown, string]>([
    ['no alerts', { alerts: [] }, 'alerts'],
    ['too many alerts', { alerts: Array.from({ length: 5_001 }, () => ({ status: 'firing' })) }, 'alerts'],
    ['no group key', { alerts: [good], groupKey: ' ' }, 'groupKey'],
    ['another status', { alerts: [good, { ...good, status: 'pending' }] }, 'alerts.1.status'],
    ['an alert that is none', { alerts: ['A'] }, 'alerts.0'],
    ['a NUL', { alerts: [{ ...good, labels: { alertname: 'A\0' } }] }, 'alerts.0.labels.alertname'],
  ])('is refused, named and recorded: %s', async (_what, body, field) => {
    const monitor = monitorOf();
    const answer = await monitor.client.post(ALERTMANAGER, { groupKey: 'g', ...(body as object) });
    expect(answer).toMatchObject({ status: 400, body: { field } });
    expect(await monitor.incidents()).toEqual([]);
    const { notifications } = (await monitor.client.get('/api/v1/alerts')).body;
    expect(notifications).toMatchObject([{ outcome: 'refused', reason: expect.stringContaining(field) }]);
  });

  test('is taken without what cannot be kept, and says so', async () => {
    const monitor = monitorOf();
    const { status, body } = await monitor.send(
      [
        alert('A', 0, {
          startsAt: '2126-01-01T00:00:00Z',
          annotations: { summary: '𝒔'.repeat(300), runbook_url: 'javascript:alert(1)', description: 'x'.repeat(9_000) },
          labels: {
            severity: 'critical',
            ...Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`label${index}`, index])),
          },
        }),
      ],
      { groupKey: 'g'.repeat(100_000) },
    );
    expect(status).toBe(202);
    expect(body.left_out.map(({ field }: { field: string }) => field)).toEqual([
      'alerts.0.startsAt',
      'alerts.0.annotations.summary',
      'alerts.0.annotations.description',
      'alerts.0.labels',
      'alerts.0.annotations.runbook_url',
    ]);
    const incident = await monitor.incident();
    expect(incident['title']).toBe(`${'𝒔'.repeat(254)}…`);
    expect(incident).toMatchObject({ impact_started_at: null });
    // Without a time that can be believed, a firing alert goes on firing.
    expect(
      outcomes(await monitor.send([alert('A', 0, { startsAt: '0000' })], { groupKey: 'g'.repeat(100_000) })),
    ).toEqual([202, 'unchanged']);
  });

  test('beyond a quota is refused as a whole, and recorded', async () => {
    const monitor = monitorOf({ workspace: { quotas: { incidents: 1 } } });
    const answer = await monitor.send([alert('A', 0), alert('B', 0)], { query: '?group=alert' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'invalid_resource_state' } });
    expect(await monitor.incidents()).toEqual([]);
    const { notifications } = (await monitor.client.get('/api/v1/alerts')).body;
    expect(notifications).toMatchObject([
      { outcome: 'refused', reason: expect.stringContaining('at most 1 incidents') },
    ]);
  });
});

test('what a workspace requires of people is not asked of monitors', async () => {
  const monitor = monitorOf({ workspace: { short_title_required: true } });
  await service.owners.change(monitor.workspaceId, ({ fields }) => {
    fields.push({
      ...{ id: 910_001, revision: 1, name: 'Cause', slug: 'cause', field_type: 'string', config: {}, description: '' },
      ...{ required: true, required_on_creation: true, required_on_status: [], archived_at: null },
    } as never);
  });
  expect(outcomes(await monitor.send([alert('A', 0)]))).toEqual([202, 'declared']);
});
