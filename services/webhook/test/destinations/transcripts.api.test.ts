import { beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import { behave, eventually } from '@tocsin/testing';
import { serviceWithReceiver } from '../service.ts';
import { DESTINATIONS, publishedIncident } from './incident-events.ts';
import { answerOf, RECEIVERS } from './receivers.ts';

const { receiver, service } = await serviceWithReceiver({ settings: { PUBLIC_URL: 'https://tocsin.example' } });
// In place of the incident service, so that publications are confirmed.
service.broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');
const refused: string[] = [];
beforeEach(() => void (refused.length = 0));

const KINDS = Object.keys(RECEIVERS);
let count = 0;

async function create(kind: string) {
  receiver.respond = answerOf(kind, refused);
  const { settings } = RECEIVERS[kind]!;
  const body = { name: `To ${kind} ${++count}`, kind, ...settings((path) => receiver.url(path)) };
  const created = await service.as().post(DESTINATIONS, body);
  expect(created).toMatchObject({ status: 201 });
  const { id } = created.body.destination;
  return {
    id,
    current: async () => (await service.as().get(`${DESTINATIONS}/${id}`)).body.destination,
  };
}

/** The bodies of the requests so far, those of a transcript as the receiver shows them. */
const bodies = () => receiver.requests.map(({ body }) => JSON.parse(body) as Record<string, never>);

/** All texts of a value, joined. */
const textsOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null
      ? Object.values(value).map(textsOf).join('\n')
      : '';

const isPager = (kind: string) => kind === 'pagerduty' || kind === 'goalert';

describe.each(KINDS)('%s', (kind) => {
  test('gets an incident from declare to resolve, in its order', async () => {
    const destination = await create(kind);
    const incident = publishedIncident(service);
    await incident.declare();
    await incident.change({ status: 'monitoring' });
    await incident.note('Rolled back to 4.2 <script> *bold* @channel');
    await incident.change({ severity: 'sev2' });
    await incident.change({ status: 'resolved' });
    const expected = { pagerduty: 5, goalert: 2 }[kind];
    await eventually(() =>
      expected === undefined ? textsOf(bodies()).includes('Resolved') : receiver.requests.length === expected,
    );
    expect(refused).toEqual([]);
    const all = textsOf(bodies());
    if (isPager(kind)) {
      const keys = bodies().map((body) => body['dedup_key'] ?? body['dedup']);
      expect(new Set(keys)).toEqual(new Set(['tocsin/acme/INC-4']));
      expect(bodies().map((body) => body['event_action'] ?? body['action'] ?? 'open')).toEqual(
        kind === 'pagerduty' ? ['trigger', 'acknowledge', 'acknowledge', 'acknowledge', 'resolve'] : ['open', 'close'],
      );
    } else {
      const places = [
        'declared by',
        'Open → Monitoring',
        'Rolled back to 4.2',
        'SEV-1 → SEV-2',
        'Monitoring → Resolved',
      ];
      const positions = places.map((place) => all.indexOf(place));
      expect(positions).not.toContain(-1);
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
      expect(all).toMatch(/note by Ana/);
      // Nobody is called by what somebody wrote, except where a receiver has no calls.
      if (kind !== 'ntfy' && kind !== 'http') expect(all).not.toMatch(/@channel/);
    }
    expect(await destination.current()).toMatchObject({ status: 'active', last_failure: null, left_out: 0 });
  });

  test('is tried again after the time that it asks for, and nothing is lost', async () => {
    const destination = await create(kind);
    receiver.respond = () => behave.answer(429, { 'retry-after': '30' });
    await publishedIncident(service).declare();
    await eventually(async () => (await destination.current()).last_failure?.status === 429);
    expect(receiver.requests).toHaveLength(1);
    receiver.respond = answerOf(kind, refused);
    service.clock.advance(29_000);
    // Another destination is sent to meanwhile: had this one been due, it would have been first.
    const other = await create('slack');
    await publishedIncident(service, { id: 5, reference: 'INC-5' }).declare();
    await eventually(async () => (await other.current()).last_success_at !== null);
    expect((await destination.current()).last_success_at).toBeNull();
    receiver.respond = answerOf(kind, refused);
    service.clock.advance(1_000);
    await eventually(async () => (await destination.current()).last_success_at !== null);
    expect(textsOf(bodies().at(-1))).toMatch(/INC-[45]/);
    expect(refused).toEqual([]);
  });

  test('is failing at once when it does not accept who sends, and goes on when that is mended', async () => {
    const destination = await create(kind);
    receiver.respond = () => behave.answer(403, {}, 'invalid token');
    await publishedIncident(service).declare();
    await eventually(async () => (await destination.current()).status === 'failing');
    const failing = await destination.current();
    expect(failing).toMatchObject({ last_failure: { reason: 'status', status: 403 } });
    expect(Date.parse(failing.retry_at) - Date.parse(failing.last_failure.at)).toBe(60_000);
    receiver.respond = answerOf(kind, refused);
    expect(await service.as().post(`${DESTINATIONS}/${destination.id}/resume`)).toMatchObject({ status: 200 });
    await eventually(async () => (await destination.current()).status === 'active');
    await eventually(async () => (await destination.current()).last_success_at !== null);
    expect(refused).toEqual([]);
  });

  test('is tried for ten minutes of 500, each time later', async () => {
    const destination = await create(kind);
    receiver.respond = () => behave.answer(500);
    await publishedIncident(service).declare();
    const waits: number[] = [];
    for (let failures = 1; waits.reduce((sum, wait) => sum + wait, 0) < 600; failures += 1) {
      await eventually(() => receiver.requests.length === failures);
      const row = await eventually(async () => {
        const [found] = await service.knex('destinations').select('failures', 'due_at', 'last_failure_at');
        return found.failures === failures ? found : undefined;
      });
      const wait = (Date.parse(row.due_at) - Date.parse(row.last_failure_at)) / 1_000;
      waits.push(wait);
      service.clock.advance(wait * 1_000);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512]);
    expect((await destination.current()).status).toBe('failing');
    receiver.respond = answerOf(kind, refused);
    await eventually(async () => (await destination.current()).status === 'active');
    expect(refused).toEqual([]);
  });

  test('gets a message again whose answer was lost', async () => {
    const destination = await create(kind);
    receiver.respond = () => behave.close();
    await publishedIncident(service).declare();
    await eventually(async () => (await destination.current()).last_failure?.reason === 'connection');
    receiver.respond = answerOf(kind, refused);
    service.clock.advance(2_000);
    await eventually(async () => (await destination.current()).last_success_at !== null);
    const [lost, again] = bodies();
    expect(again).toEqual(lost);
  });

  test('tells what it said to a test', async () => {
    const { id } = await create(kind);
    const tested = async () => (await service.as().post(`${DESTINATIONS}/${id}/test`)).body.test;
    expect(await tested()).toMatchObject({
      ...{ is_accepted: true, reason: null, answer: RECEIVERS[kind]!.answer.body },
    });
    expect(receiver.requests).toHaveLength(isPager(kind) ? 2 : 1);
    expect(refused).toEqual([]);
    receiver.respond = () => behave.answer(404, {}, 'no_service');
    expect(await tested()).toEqual({
      ...{ is_accepted: false, reason: 'status', status: 404, answer: 'no_service' },
    });
  });
});
