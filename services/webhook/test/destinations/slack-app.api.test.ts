import { afterEach, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import { eventually } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';
import { DESTINATIONS, publishedIncident } from './incident-events.ts';

const service = await serviceForFile({ settings: { PUBLIC_URL: 'https://tocsin.example' } });
const { incidents } = service;
// In place of the incident service, so that publications are confirmed.
service.broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');
afterEach(service.reset);

const CHANNEL = 'C0123ABCD';

async function create() {
  const body = { name: 'In our Slack', kind: 'slack_app', recipients: [CHANNEL] };
  const created = await service.as().post(DESTINATIONS, body);
  expect(created).toMatchObject({ status: 201, body: { destination: { url: '', recipients: [CHANNEL] } } });
  const { id } = created.body.destination;
  return {
    path: `${DESTINATIONS}/${id}`,
    current: async () => (await service.as().get(`${DESTINATIONS}/${id}`)).body.destination,
  };
}

test('gets the texts of Slack in the channel, by the incident service', async () => {
  const destination = await create();
  const incident = publishedIncident(service);
  await incident.declare();
  await incident.note('Rolled back to 4.2 <!channel> `code` @here');
  await eventually(async () => (await destination.current()).last_success_at !== null && incidents.posted.length > 0);
  await eventually(() =>
    incidents.posted
      .map(({ text }) => text)
      .join('\n')
      .includes('Rolled back'),
  );
  for (const { workspace_id, channel } of incidents.posted) expect([workspace_id, channel]).toEqual([1, CHANNEL]);
  const text = incidents.posted.map((message) => message.text).join('\n');
  expect(text).toContain('<https://tocsin.example/app/incidents/4|INC-4>');
  expect(text).toContain('Rolled back to 4.2 &lt;!channel&gt; ˋcodeˋ');
  expect(text).not.toMatch(/@here|<!/);
});

test.each([
  ['rate_limited', 429, 'active', 30],
  ['not_connected', 401, 'failing', 60],
  ['channel_missing', 404, 'failing', 60],
  ['unavailable', null, 'active', 2],
] as const)('waits when it is %s, and loses nothing', async (reason, status, state, seconds) => {
  const destination = await create();
  incidents.chatFailure = { reason, message: 'Slack says no', ...(reason === 'rate_limited' && { retry_after: 30 }) };
  await publishedIncident(service).declare();
  await eventually(async () => (await destination.current()).last_failure !== null);
  expect(await destination.current()).toMatchObject({ status: state, last_failure: { status } });
  const [row] = await service.knex('destinations').select('due_at', 'last_failure_at');
  expect(Date.parse(row.due_at) - Date.parse(row.last_failure_at)).toBe(seconds * 1_000);
  incidents.chatFailure = null;
  service.clock.advance(seconds * 1_000);
  await eventually(async () => (await destination.current()).last_success_at !== null);
  expect(await destination.current()).toMatchObject({ status: 'active', left_out: 0 });
});

test('leaves out what Slack refuses, and tells what it said to a test', async () => {
  const destination = await create();
  incidents.chatFailure = { reason: 'refused', message: 'Slack returned msg_too_long' };
  await publishedIncident(service).declare();
  await eventually(async () => (await destination.current()).left_out === 1);
  const tested = async () => (await service.as().post(`${destination.path}/test`)).body.test;
  expect(await tested()).toEqual({
    ...{ is_accepted: false, reason: 'status', status: 422, answer: 'Slack returned msg_too_long' },
  });
  incidents.chatFailure = null;
  expect(await tested()).toMatchObject({ is_accepted: true, answer: 'ok' });
});

test('has one channel, by its ID', async () => {
  const invalid = async (recipients: readonly string[]) =>
    (await service.as().post(DESTINATIONS, { name: 'x', kind: 'slack_app', recipients })).body;
  for (const recipients of [['#general'], ['ana@acme.example'], [CHANNEL, 'C0123ABCE']]) {
    expect(await invalid(recipients)).toMatchObject({ code: 'invalid_request', field: 'recipients' });
  }
  expect(await invalid([])).toMatchObject({ message: 'Is required for the kind slack_app' });
  const { path, current } = await create();
  const revision = { 'If-Service-Resource-Version': '1' };
  expect(await service.as().patch(path, { recipients: ['general'] }, revision)).toMatchObject({ status: 400 });
  expect(await service.as().patch(path, { recipients: ['C0999ZZZZ'] }, revision)).toMatchObject({ status: 200 });
  expect((await current()).recipients).toEqual(['C0999ZZZZ']);
});
