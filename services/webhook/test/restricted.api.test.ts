import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUES, SCOPES } from '@tocsin/schemas';
import {
  asUser,
  behave,
  eventually,
  openEventStream,
  refusal,
  type StreamReader,
  type TestUser,
} from '@tocsin/testing';
import { deleteRecordedBefore } from '../src/feed/store/feed-trimmer.ts';
import { clearFeed, envelopeOf, FEED, messageOf, type TestEvent, waitingAt } from './feed.ts';
import { activeSubscription, deliveries, publish, serviceWithReceiver, settled, subscribe } from './service.ts';

const WEBHOOKS = '/api/v1/settings/webhooks';
const DAY = 24 * 3_600_000;
const WITHOUT_SCOPE: TestUser = { scopes: SCOPES.filter((scope) => scope !== 'restricted:read') };
const WITHOUT_PERMISSION: TestUser = { permissions: ['manage_settings', 'manage_teams'] };
const OUTSIDERS: [string, TestUser][] = [
  ['a key without the scope', WITHOUT_SCOPE],
  ['a user without the permission', WITHOUT_PERMISSION],
];

const { receiver, service } = await serviceWithReceiver();
service.broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');
const streams: StreamReader[] = [];
beforeEach(async () => clearFeed(service));
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});

const get = async (query: Record<string, string>, user: TestUser) =>
  service.as(user).get(`${FEED}?${new URLSearchParams(query).toString()}`);
async function page(query: Record<string, string>, user: TestUser = {}) {
  const { status, text, body } = await get(query, user);
  if (status !== 200) throw new Error(`${status} ${text}`);
  const { next_cursor: cursor, has_more: hasMore } = body.pagination;
  return { ids: body.events.map(({ id }: { id: string }) => id) as string[], hasMore: hasMore as boolean, cursor };
}
async function record(...events: TestEvent[]): Promise<string[]> {
  const envelopes = events.map(envelopeOf);
  const outcomes = await service.broker.publish(envelopes.map(messageOf));
  expect(outcomes).toEqual(events.map(() => 'confirmed'));
  return envelopes.map(({ id }) => id);
}
const restricted = (event: TestEvent = {}): TestEvent => ({ id: 2, ...event, restricted: true });
const stream = async (query: Record<string, string>, user: TestUser) => {
  const url = new URL(`${FEED}?${new URLSearchParams(query).toString()}`, service.app.url);
  const reader = await openEventStream(url, asUser('webhook', user));
  streams.push(reader);
  return reader;
};

describe('the feed', () => {
  test.each(OUTSIDERS)('has no event of a restricted incident for %s, whatever it asks for', async (_, outsider) => {
    const all = await record(
      { id: 1 },
      restricted(),
      restricted({ type: 'timeline_event.created' }),
      { id: 1, type: 'incident.updated' },
      restricted({ type: 'follow_up.created' }),
      { type: 'team.changed' },
      restricted({ type: 'incident.updated' }),
      { id: 3 },
    );
    const others = [0, 3, 5, 7].map((index) => all[index]);
    for (const query of [{}, { limit: '4' }] as Record<string, string>[]) {
      expect(await page({ from: 'beginning', ...query }, outsider)).toMatchObject({ ids: others, hasMore: false });
    }
    expect((await page({ from: 'beginning' })).ids).toEqual(all);
    expect((await page({ from: 'beginning', resource: 'incident:2' })).ids).toHaveLength(4);
    expect(await page({ from: 'beginning', resource: 'incident:2' }, outsider)).toEqual(
      await page({ from: 'beginning', resource: 'incident:99' }, outsider),
    );
    expect(await page({ from: 'beginning', types: 'follow_up.created,timeline_event.created' }, outsider)).toEqual(
      await page({ from: 'beginning', types: 'service.changed' }, outsider),
    );
    const types = 'follow_up.created,timeline_event.created';
    expect((await page({ from: 'beginning', types })).ids).toEqual([all[2], all[4]]);
  });

  test('has no cursor that tells of them', async () => {
    const outsider = WITHOUT_PERMISSION;
    await record({ id: 1 });
    const before = await page({ from: 'beginning' }, outsider);
    const [first] = await record(restricted());
    await record(restricted({ type: 'incident.updated' }), restricted({ type: 'timeline_event.updated' }));
    const { cursor } = before;
    expect(await page({ from: 'beginning' }, outsider)).toEqual(before);
    for (const query of [{ after: cursor }, { from: 'now' }, { from: service.clock.now(), types: 'team.changed' }])
      expect(await page(query, outsider)).toEqual({ ids: [], hasMore: false, cursor });
    expect((await page({ from: 'now' })).cursor).not.toBe(cursor);

    // A cursor of somebody who has lost the right leads on.
    const { cursor: inside } = await page({ from: 'beginning', limit: '2' });
    expect((await page({ after: cursor })).ids[0]).toBe(first);
    const [next] = await record({ id: 4 });
    expect((await page({ after: inside }, outsider)).ids).toEqual([next]);
    expect((await page({ after: cursor }, outsider)).ids).toEqual([next]);
  });

  test.each(OUTSIDERS)('does not wake %s, and tells nothing when the time of a wait is over', async (_, outsider) => {
    await record({ id: 1 });
    const { cursor } = await page({}, outsider);
    const short = page({ after: cursor, wait: '1' }, outsider);
    const long = page({ after: cursor, wait: '20' }, outsider);
    const inside = page({ after: cursor, wait: '20' });
    const [reader, whole] = [await stream({ after: cursor }, outsider), await stream({ after: cursor }, {})];
    await eventually(async () => (await waitingAt(service.app.url)) === 5, { what: 'five readers who wait' });
    // More than are read at once.
    const hidden = await record(...Array.from({ length: 40 }, () => restricted()));
    expect((await inside).ids[0]).toBe(hidden[0]);
    await eventually(() => whole.messages.length === 40, { what: 'the events of a reader with the right' });
    expect(await short).toEqual({ ids: [], hasMore: false, cursor });
    expect(reader.text.match(/^id: .*$/gm)).toEqual([`id: ${cursor}`]);
    const [next] = await record({ id: 3 });
    expect(await long).toMatchObject({ ids: [next], hasMore: false });
    await eventually(() => reader.messages.length > 0, { what: 'the event of an incident that is not restricted' });
    expect(reader.messages.map(({ data }) => data.id)).toEqual([next]);
    expect(reader.text.match(/^id: /gm)).toHaveLength(2);
    await eventually(() => whole.messages.length === 41, { what: 'all events' });
  });

  test('expires no cursor because of them', async () => {
    const outsider = WITHOUT_SCOPE;
    const limited = { workspace: { history_days: 1 } };
    await record({ id: 1 });
    const { cursor } = await page({}, outsider);
    await record(restricted(), restricted());
    service.clock.advance(2 * DAY);
    expect(await page({ after: cursor }, { ...outsider, ...limited })).toEqual({ ids: [], hasMore: false, cursor });
    expect(await get({ after: cursor }, limited)).toMatchObject(refusal(410, 'cursor_expired'));
    const [next] = await record({ id: 3 });
    expect((await page({ after: cursor }, { ...outsider, ...limited })).ids).toEqual([next]);
    await deleteRecordedBefore(service.knex, service.clock.now());
    expect((await page({ after: cursor }, outsider)).ids).toEqual([next]);
    expect(await get({ after: cursor }, {})).toMatchObject(refusal(410, 'cursor_expired'));
  });

  test('hides what it has of an incident that becomes restricted, and shows what comes when it no longer is', async () => {
    const [one, created] = await record({ id: 1 }, { id: 2 });
    await record({ id: 2, type: 'timeline_event.created' }, restricted({ type: 'incident.updated' }));
    const hides = async (ids: unknown[]) =>
      eventually(async () => (await page({ from: 'beginning' }, WITHOUT_SCOPE)).ids.length === ids.length, {
        what: 'that the earlier events are hidden',
      }).then(async () => expect((await page({ from: 'beginning' }, WITHOUT_SCOPE)).ids).toEqual(ids));
    await hides([one]);
    const [later] = await record({ id: 2, type: 'incident.updated' });
    await hides([one, later]);
    expect((await page({ from: 'beginning' })).ids).toEqual([
      one,
      created,
      ...Array(2).fill(expect.any(String)),
      later,
    ]);
    expect(await service.knex('feed_restrictions').select('resource')).toEqual([]);
  });
});

describe('a webhook', () => {
  const subscribeWith = async (user: TestUser = {}, url = receiver.url()) =>
    service.as(user).post(WEBHOOKS, { url, include_restricted: true });
  const activeWith = async () => {
    const { body } = await subscribeWith();
    await service.knex('subscriptions').where({ id: body.webhook.id }).update({ verified: true });
    const path = `${WEBHOOKS}/${body.webhook.id}`;
    expect(await service.as().post(`${path}/resume`)).toMatchObject({ status: 200 });
    return { id: body.webhook.id as string, path };
  };
  const listed = async () => (await service.as(WITHOUT_PERMISSION).get(WEBHOOKS)).body.webhooks;

  test('gets restricted incidents only with include_restricted, and shows no trace of them', async () => {
    await activeSubscription(service, receiver.url('/without'));
    const { id } = await activeWith();
    const before = await listed();
    expect(before.map((webhook: { include_restricted: boolean }) => webhook.include_restricted)).toEqual([false, true]);
    for (const status of [204, 400, 400, 400, 400, 400]) {
      receiver.respond = () => behave.answer(status);
      await service.knex('deliveries').delete();
      await publish(service, { restricted: true });
      const { subscription_id: subscriptionId } = await settled(service, ({ attempts }) => attempts === 1);
      expect(subscriptionId).toBe(id);
    }
    expect(await listed()).toEqual(before);
    expect(JSON.parse(receiver.requests[0]!.body)).toMatchObject({ type: 'incident.created', restricted: true });

    receiver.respond = () => behave.answer(204);
    await service.knex('deliveries').delete();
    await publish(service, { id: 18 });
    await eventually(
      async () => (await deliveries(service)).filter(({ status }) => status === 'succeeded').length === 2,
      {
        what: 'both deliveries of an incident that is not restricted',
      },
    );
    expect(JSON.parse(receiver.requests.at(-1)!.body)).not.toHaveProperty('restricted');
  });

  test('gets include_restricted only from those who may see restricted incidents', async () => {
    const ask = async (user: TestUser) => subscribeWith(user, 'https://hooks.example.com/');
    const noScope = refusal(403, 'missing_scope', { details: { required_scope: 'restricted:read' } });
    expect(await ask(WITHOUT_SCOPE)).toMatchObject(noScope);
    expect(await ask({ ...WITHOUT_SCOPE, ...WITHOUT_PERMISSION })).toMatchObject(noScope);
    const noPermission = { details: { required_permission: 'view_restricted' } };
    expect(await ask(WITHOUT_PERMISSION)).toMatchObject(refusal(403, 'missing_role_permission', noPermission));
    expect(await subscribe(service.as(WITHOUT_PERMISSION), receiver.url())).toBeDefined();
    expect(await service.knex('subscriptions').select('include_restricted')).toEqual([{ include_restricted: false }]);
  });

  test('with include_restricted is changed only by them, except to stop it', async () => {
    const { path } = await activeWith();
    const outsider = service.as(WITHOUT_PERMISSION);
    const refused = refusal(403, 'missing_role_permission');
    for (const verb of ['verify', 'test', 'rotate-secret', 'resume'])
      expect(await outsider.post(`${path}/${verb}`)).toMatchObject(refused);
    expect(await outsider.put(`${path}/headers`, { headers: { 'X-Key': '1' } })).toMatchObject(refused);
    expect(await service.as(WITHOUT_SCOPE).post(`${path}/resume`)).toMatchObject(refusal(403, 'missing_scope'));
    expect(await outsider.post(`${path}/pause`)).toMatchObject({ body: { webhook: { status: 'paused' } } });
    expect(await outsider.post(`${path}/resume`)).toMatchObject(refused);
    expect(await service.as().post(`${path}/resume`)).toMatchObject({ body: { webhook: { status: 'active' } } });
    expect(await outsider.post(`${path}/revoke`)).toMatchObject({ body: { webhook: { status: 'revoked' } } });
    expect(receiver.requests).toEqual([]);
  });

  test('gets nothing more of an incident that becomes restricted, unless it includes them', async () => {
    receiver.respond = () => behave.answer(503);
    const { id } = await activeSubscription(service, receiver.url());
    const including = await activeWith();
    await publish(service, { id: 17 });
    await eventually(async () => (await deliveries(service)).every(({ attempts }) => attempts === 1), {
      what: 'attempts',
    });
    await record(restricted({ id: 17, workspaceId: 1, type: 'incident.updated' }));
    await eventually(
      async () =>
        (await deliveries(service)).find((delivery) => delivery.subscription_id === id)?.status === 'cancelled',
      { what: 'that the delivery is cancelled' },
    );
    const other = (await deliveries(service)).find((delivery) => delivery.subscription_id === including.id);
    expect(other?.status).toBe('queued');
  });
});
