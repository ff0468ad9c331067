import { describe, expect, test } from '@jest/globals';
import { type Answer, testClock } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';

const clock = testClock('2026-11-24T10:00:00.000Z');
const service = await serviceForFile({ clock });

const ALERTMANAGER = '/api/v1/alerts/alertmanager';
let workspaces = 100;

/** A monitor in a workspace of its own. */
function monitorOf() {
  workspaces += 1;
  const client = service.as({ workspace: { id: workspaces, version: 1 }, key_id: workspaces });
  return { client, incident: async () => (await client.get('/api/v1/incidents')).body.incidents[0] };
}

const outcomes = ({ status, body }: Answer) => [
  status,
  ...body.results.map(({ outcome }: { outcome: string }) => outcome),
];

describe('the forms of other systems', () => {
  const issue = {
    issue_id: '1170',
    title: 'TypeError',
    level: 'error',
    tags: [
      ['service', 'checkout'],
      ['toString', 'x'],
    ],
  };

  test('Sentry: an alert rule and its issue are one alert', async () => {
    const monitor = monitorOf();
    const send = async (body: object, query = '') => monitor.client.post(`/api/v1/alerts/sentry${query}`, body);
    const triggered = {
      action: 'triggered',
      data: { event: { ...issue, web_url: 'https://sentry.example.com/1170' } },
    };
    expect(outcomes(await send(triggered))).toEqual([202, 'declared']);
    expect(outcomes(await send(triggered))).toEqual([202, 'unchanged']);
    expect(await monitor.incident()).toMatchObject({ title: 'TypeError', severity: 'sev2', service: 'checkout' });
    const about = { id: '1170', title: 'TypeError', level: 'error', project: { slug: 'shop' } };
    for (const [action, outcome] of [
      ['created', 'unchanged'],
      ['assigned', 'added'],
      ['resolved', 'ended'],
    ])
      expect([action, ...outcomes(await send({ action, data: { issue: about } }, '?on_end=resolve'))]).toEqual([
        ...[action, 202, outcome],
      ]);
    for (const [body, field] of [
      [{ action: 'deleted', data: { issue: about } }, 'action'],
      [{ action: 'created', data: {} }, 'data'],
      [{ action: 'created', data: { issue: {} } }, 'data.issue.id'],
      [{}, 'action'],
    ] as const)
      expect((await send(body)).body).toMatchObject({ code: 'invalid_request', field });
  });

  test('Azure: the common alert schema fires and ends, and another schema is named', async () => {
    const monitor = monitorOf();
    const send = async (essentials: object, more: object = {}) =>
      monitor.client.post('/api/v1/alerts/azure?on_end=resolve', {
        schemaId: 'azureMonitorCommonAlertSchema',
        data: { essentials: { alertId: '/alerts/7', alertRule: 'High CPU', ...essentials } },
        ...more,
      });
    const fired = {
      ...{ monitorCondition: 'Fired', severity: 'Sev0', configurationItems: ['db-1'] },
      firedDateTime: '2026-11-24T09:58:24.3713213Z',
    };
    expect(outcomes(await send(fired))).toEqual([202, 'declared']);
    expect(await monitor.incident()).toMatchObject({
      ...{ title: 'High CPU', severity: 'sev1', service: 'db-1', impact_started_at: '2026-11-24T09:58:24.371Z' },
    });
    const resolved = { ...fired, monitorCondition: 'Resolved', resolvedDateTime: '2026-11-24T09:59:00Z' };
    expect(outcomes(await send(resolved))).toEqual([202, 'ended']);
    expect(await monitor.incident()).toMatchObject({ status: 'resolved', recovered_at: '2026-11-24T09:59:00.000Z' });
    expect((await send(fired, { schemaId: 'AzureMonitorMetricAlert' })).body).toMatchObject({ field: 'schemaId' });
    expect((await send({ ...fired, monitorCondition: 'toString' })).body).toMatchObject({
      field: 'data.essentials.monitorCondition',
    });
  });

  test('the legacy form of Grafana is refused by name', async () => {
    const legacy = {
      evalMatches: [],
      ruleId: 1,
      ruleName: 'CPU',
      ruleUrl: 'http://grafana',
      state: 'alerting',
      title: 'CPU',
    };
    const { status, body } = await monitorOf().client.post(ALERTMANAGER, legacy);
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: expect.stringContaining('unified alerting'),
    });
  });

  test('PagerDuty: times without a colon in their offset are read', async () => {
    const monitor = monitorOf();
    const payload = { summary: 'Slow', source: 'probe', severity: 'error', timestamp: '2026-11-24T11:58:00.000+0200' };
    const reply = await monitor.client.post('/api/v1/alerts/pagerduty/v2/enqueue', {
      event_action: 'trigger',
      payload,
    });
    expect([reply.status, reply.body]).toEqual([
      202,
      { status: 'success', message: 'Event processed', dedup_key: expect.stringMatching(/^\w{32}$/) },
    ]);
    expect(await monitor.incident()).toMatchObject({ impact_started_at: '2026-11-24T09:58:00.000Z' });
  });

  test('texts of templates are shortened, and the response says so', async () => {
    const monitor = monitorOf();
    const long = 'x'.repeat(5_000);
    const { status, body } = await monitor.client.post('/api/v1/alerts', {
      ...{ id: long, status: 'firing', title: long, description: long, severity: long, service: long },
      labels: {
        [long]: long,
        ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`label-${index}`, ''])),
      },
      links: [{ url: `https://example.com/${long}` }, { url: 'nowhere', label: long }],
    });
    expect([status, body.results[0].outcome]).toEqual([202, 'declared']);
    expect(body.left_out.map(({ field }: { field: string }) => field)).toEqual(
      expect.arrayContaining(['title', 'description', 'severity', 'service', 'labels', 'links.0.url', 'links.1.url']),
    );
    expect(String((await monitor.incident()).title)).toHaveLength(255);
    // The identity is the whole text.
    const other = { id: `${long}y`, status: 'firing', title: 'Another' };
    expect(outcomes(await monitor.client.post('/api/v1/alerts', other))).toEqual([202, 'declared']);
  });

  test.each([
    ['P0', 'sev1'],
    ['Sev0', 'sev1'],
    ['urgent', 'sev1'],
    ['BLOCKER', 'sev1'],
    ['DOWN', 'sev1'],
    ['UNREACHABLE', 'sev1'],
    ['UNKNOWN', 'sev3'],
    ['none', 'sev4'],
  ])('the severity %s is %s', async (severity, expected) => {
    const monitor = monitorOf();
    await monitor.client.post('/api/v1/alerts', { id: 'a', status: 'firing', title: 'A', severity });
    expect((await monitor.incident()).severity).toBe(expected);
  });
});

describe('every refusal of a monitor with a valid key leaves its record', () => {
  const token = `tcs_${'a1'.repeat(24)}b`;

  test.each<[form: string, body: string, reason: string, start: string]>([
    [
      '',
      '{"id": "a", "status": "firing", title: "Down"}',
      'line 1, column 33',
      '{"id": "a", "status": "firing", title:',
    ],
    [
      '',
      '{"id":"a","status":"down","title":"Down"}',
      'status: Must be one of firing, resolved',
      '{"id":"a","status":"down"',
    ],
    ['', '{"id":"a","status":"firing","title":"Down","more":1}', 'more: ', '{"id":"a"'],
    ['', '[]', 'The body must be a JSON object', '[]'],
    ['', '', 'The body is empty', ''],
    ['/alertmanager', '{"groupKey":"g","alerts":{}}', 'alerts: Must be a list', '{"groupKey":"g","alerts":{}}'],
    [
      '/pagerduty/v2/enqueue',
      `{"routing_key":"${token}","event_action":"x"}`,
      'event_action: ',
      '{"routing_key":"tcs_…","event',
    ],
    ['/sentry', '{"action":"x"}', 'action: Must be one of', '{"action":"x"}'],
    ['/azure', `{"schemaId":"${'😀'.repeat(300)}\\u0000"}`, 'schemaId', `{"schemaId":"${'😀'.repeat(187)}…`],
  ])('%s %s', async (form, body, reason, start) => {
    const { client } = monitorOf();
    const send = async (path: string) => client.with({ 'Content-Type': 'application/json' }).send('POST', path, body);
    expect((await send(`/api/v1/alerts${form}?validate_only=true`)).status).toBe(400);
    expect((await client.get('/api/v1/alerts')).body.notifications).toEqual([]);
    expect((await send(`/api/v1/alerts${form}`)).status).toBe(400);
    const { notifications } = (await client.get('/api/v1/alerts')).body;
    expect(notifications).toEqual([expect.objectContaining({ outcome: 'refused', incident: null })]);
    expect(notifications[0].reason).toContain(reason);
    expect(notifications[0].body_start.slice(0, start.length)).toBe(start);
  });

  test('an unknown parameter, too, and nobody else’s', async () => {
    const { client } = monitorOf();
    expect((await client.post('/api/v1/alerts?on_ende=resolve', { id: 'a' })).status).toBe(400);
    const { notifications } = (await client.get('/api/v1/alerts?outcome=refused')).body;
    expect(notifications).toEqual([expect.objectContaining({ reason: expect.stringContaining('on_ende') })]);
    const other = monitorOf().client;
    expect((await other.get('/api/v1/alerts')).body.notifications).toEqual([]);
  });
});
