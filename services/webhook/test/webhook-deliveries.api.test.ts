import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type DataPosition, type PersonalDataRequest, QUEUES, SCOPES } from '@tocsin/schemas';
import { erasePersonalData } from '@tocsin/service-host';
import { behave, eventually, readPages, refusal, type TestUser } from '@tocsin/testing';
import { deliveryLimits, deliveryLog } from '../src/administration.ts';
import { PERSONAL_TABLES } from '../src/erasure/personal-tables.ts';
import { clockTime } from '../src/shared/store/time.ts';
import { deleteRecordedBefore } from '../src/feed/store/feed-trimmer.ts';
import { clearFeed, envelopeOf, messageOf } from './feed.ts';
import { activeSubscription, deliveries, incidentCreated, publish, serviceWithReceiver } from './service.ts';

const WEBHOOKS = '/api/v1/settings/webhooks';
const DELIVERIES = '/api/v1/settings/webhook-deliveries';
const OUTSIDERS: [string, TestUser][] = [
  ['a key without the scope', { scopes: SCOPES.filter((scope) => scope !== 'restricted:read') }],
  ['a user without the permission', { permissions: ['manage_settings', 'manage_teams'] }],
];
const [[, OUTSIDER]] = OUTSIDERS as [[string, TestUser]];

const { receiver, service } = await serviceWithReceiver();
service.broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');
afterEach(async () => clearFeed(service));

const bytes = (said: number[]) => (response: ServerResponse) => void response.writeHead(404).end(Buffer.from(said));
const list = async (query: Record<string, string> = {}, user: TestUser = {}) => {
  const { status, text, body } = await service.as(user).get(`${DELIVERIES}?${new URLSearchParams(query).toString()}`);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body.deliveries as Record<string, unknown>[];
};
const get = async (id: number, user: TestUser = {}) => service.as(user).get(`${DELIVERIES}/${id}`);
const redeliver = async (id: number, user: TestUser = {}) => service.as(user).post(`${DELIVERIES}/${id}/redeliver`);
const finished = async () =>
  eventually(
    async () => {
      const rows = await deliveries(service);
      return rows.length > 0 && rows.every(({ status }) => status !== 'queued') && rows;
    },
    { what: 'the end of all deliveries' },
  );
/** A delivery of an incident that has ended. */
const delivered = async (incident: Parameters<typeof publish>[1] = {}): Promise<number> => {
  await publish(service, incident);
  return (await finished()).at(-1)!.id;
};
const withRestricted = async (): Promise<string> => {
  const { body } = await service.as().post(WEBHOOKS, { url: receiver.url('/with'), include_restricted: true });
  await service.knex('subscriptions').where({ id: body.webhook.id }).update({ verified: true });
  await service.as().post(`${WEBHOOKS}/${body.webhook.id}/resume`);
  return body.webhook.id;
};
const becomesRestricted = async (id: number) =>
  service.broker.publish([messageOf(envelopeOf({ id, type: 'incident.updated', restricted: true }))]);

describe('a delivery', () => {
  test('is shown with the body that was sent, and with what was answered', async () => {
    const { id: webhook } = await activeSubscription(service, receiver.url());
    receiver.respond = () => behave.answer(503, {}, 'Come back later');
    await publish(service, { id: 4 });
    await eventually(async () => (await deliveries(service))[0]?.last_status === 503);
    const [waiting] = await list();
    expect(waiting).toMatchObject({ status: 'queued', attempts: 1, last_error: 'status', finished_at: null });
    expect(waiting!['due_at']).toBe(new Date(Date.parse(service.clock.now()) + 5_000).toISOString());
    receiver.respond = () => behave.answer(200, {}, '{"ok":true}');
    service.clock.advance(5_000);
    const [row] = await finished();

    const { status, body } = await get(row!.id);
    expect(status).toBe(200);
    expect(body.delivery).toEqual({
      ...{ id: row!.id, webhook_id: webhook, event_id: row!.event_id, event_type: 'incident.created' },
      ...{ incident: 'INC-4', status: 'succeeded', attempts: 2, last_error: null, last_status: 200 },
      ...{ queued_at: expect.any(String), due_at: null, finished_at: service.clock.now() },
      ...{ redelivery: 0, requested_by: null, body: receiver.requests[0]!.body },
    });
    expect(body.attempts).toMatchObject([
      { number: 1, result: 'status', status: 503, answer: 'Come back later' },
      { number: 2, result: 'succeeded', status: 200, answer: '{"ok":true}' },
    ]);
    const { body: _, ...listed } = body.delivery;
    expect(await list()).toEqual([listed]);
  });

  test.each([
    ['nothing', behave.answer(204), 'succeeded', null],
    ['NUL and bytes that are no UTF-8', bytes([0x61, 0, 0xff, 0x62]), 'status', 'a\uFFFD\uFFFDb'],
    ['a megabyte that is refused', behave.answer(400, {}, 'x'.repeat(1_048_576)), 'status', 'x'.repeat(1_024)],
    ['its own path', behave.answer(404, {}, 'Cannot POST /secret/path?key=1'), 'status', 'Cannot POST ***'],
    [
      'a refusal without an end',
      behave.raw('HTTP/1.1 410 Gone\r\nContent-Length: 100\r\n\r\nmoved'),
      'status',
      'moved',
    ],
  ])('whose receiver answers %s shows the beginning of it', async (_, behaviour, result, answer) => {
    await activeSubscription(service, receiver.url('/secret/path?key=1'));
    receiver.respond = () => behaviour;
    const { body } = await get(await delivered());
    expect(body.attempts).toMatchObject([{ result, answer: answer === null ? null : expect.stringContaining(answer) }]);
    expect(body.attempts[0].answer?.length ?? 0).toBeLessThanOrEqual(1_024);
    expect(service.logged()).not.toContain('Cannot POST');
  });

  test.each([
    ['a megabyte', behave.answer(200, {}, 'y'.repeat(1_048_576)), 'body_too_large', 'y'.repeat(1_024)],
    ['half of a body', behave.truncated(), 'connection', '0123456789'],
  ])('whose receiver answers %s as a success fails, and shows it', async (_, behaviour, result, answer) => {
    await activeSubscription(service, receiver.url());
    receiver.respond = () => behaviour;
    await publish(service, {});
    const id = await eventually(async () => (await deliveries(service)).find(({ last_error: error }) => error)?.id);
    expect((await get(id)).body.attempts).toMatchObject([{ result, status: 200, answer }]);
  });

  test('exists only in its workspace, and for those who manage webhooks', async () => {
    await activeSubscription(service, receiver.url());
    const id = await delivered();
    const other = { workspace: { id: 2 } };
    expect(await list({}, other)).toEqual([]);
    const missing = refusal(404, 'not_found');
    for (const answer of [
      await get(id, other),
      await redeliver(id, other),
      await get(999_999),
      await redeliver(999_999),
    ])
      expect(answer).toMatchObject(missing);
    expect(await get(id, { scopes: ['incidents:read'] })).toMatchObject(refusal(403, 'missing_scope'));
    expect(await redeliver(id, { permissions: [] })).toMatchObject(refusal(403, 'missing_role_permission'));
    expect(await service.as().get(`${WEBHOOKS}/wh_x/deliveries`)).toMatchObject(missing);
    expect(await deliveries(service)).toHaveLength(1);
  });

  test('goes with its incident, and its answer with the name of an erased user', async () => {
    await activeSubscription(service, receiver.url());
    receiver.respond = () => behave.answer(200, {}, 'paged Ana Ruiz');
    const first = await delivered({ id: 1 });
    receiver.respond = () => behave.answer(200, {}, 'paged Ben');
    const second = await delivered({ id: 2 });
    const person = { user_id: 42, names: ['Ana Ruiz'], emails: ['ana@acme.example'], version: 0 };
    const workspace = { id: 1, slug: 'acme', is_demo: false };
    let position: DataPosition | null = null;
    do {
      const request: PersonalDataRequest = { workspace, ...person, position };
      position = (await erasePersonalData(service.knex, PERSONAL_TABLES, request)).next;
    } while (position !== null);
    expect((await get(first)).body.attempts).toMatchObject([{ result: 'succeeded', answer: null }]);
    expect((await get(second)).body.attempts).toMatchObject([{ answer: 'paged Ben' }]);

    const { id: messageId, ...event } = incidentCreated(service, { id: 2 });
    const data = { incident: { id: 2, reference: 'INC-2' } };
    await service.broker.publish([messageOf({ ...event, id: messageId, type: 'incident.deleted', ...{ data } })]);
    await eventually(async () => (await get(second)).status === 404, { what: 'that the delivery is gone' });
    expect(await service.knex('attempts').select('answer')).toEqual([{ answer: null }]);
    expect(await list()).toHaveLength(1);
  });
});

describe('the list', () => {
  test('selects by webhook, status and event, page by page', async () => {
    const [one, two] = [
      await activeSubscription(service, receiver.url('/one')),
      await activeSubscription(service, receiver.url('/two')),
    ];
    receiver.respond = ({ path }) => behave.answer(path === '/one' ? 204 : 404);
    for (const id of [1, 2, 3]) await delivered({ id });
    const all = await list();
    expect(all.map(({ incident }) => incident)).toEqual(['INC-3', 'INC-3', 'INC-2', 'INC-2', 'INC-1', 'INC-1']);
    const [{ event_id: eventId }] = all.slice(-1) as [{ event_id: string }];
    const selections: [Record<string, string>, (row: Record<string, unknown>) => boolean][] = [
      [{ webhook_id: one.id }, (row) => row['webhook_id'] === one.id],
      [{ status: 'failed' }, (row) => row['status'] === 'failed'],
      [{ event_id: eventId.toUpperCase() }, (row) => row['event_id'] === eventId],
      [{ webhook_id: two.id, status: 'failed', event_id: eventId }, (row) => row === all.at(-1) || row === all.at(-2)],
      [{ webhook_id: one.id, status: 'failed' }, () => false],
      [{ webhook_id: 'wh_unknown' }, () => false],
      [{ event_id: randomUUID() }, () => false],
      [{ status: 'held' }, () => false],
    ];
    for (const [query, selects] of selections) {
      const rows = all.filter(
        (row) => selects(row) && (query['webhook_id'] ?? row['webhook_id']) === row['webhook_id'],
      );
      expect([query, await list(query)]).toEqual([query, rows]);
      const paged = [];
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const page: Record<string, string> = { ...query, limit: '1', ...(cursor !== '' && { cursor }) };
        const { body } = await service.as().get(`${DELIVERIES}?${new URLSearchParams(page).toString()}`);
        paged.push(...body.deliveries);
        cursor = body.pagination.next_cursor;
      }
      expect(paged).toEqual(rows);
    }
    const { body } = await service.as().get(`${DELIVERIES}?limit=1`);
    const foreign = `${DELIVERIES}?limit=1&status=failed&cursor=${body.pagination.next_cursor}`;
    expect(await service.as().get(foreign)).toMatchObject(refusal(400, 'invalid_request'));
  });

  test.each([
    ['status', 'sent'],
    ['event_id', 'no-uuid'],
    ['webhook_id', ''],
    ['limit', '101'],
    ['cursor', 'x'],
    ['before', '1'],
  ])('refuses %s=%s by its name', async (name, value) => {
    const answer = await service.as().get(`${DELIVERIES}?${name}=${value}`);
    expect(answer).toMatchObject(refusal(400, 'invalid_request'));
    expect(JSON.stringify(answer.body)).toContain(name);
  });

  test('reads a page of 20,000 deliveries, whichever are restricted', async () => {
    const { id } = await activeSubscription(service, receiver.url());
    await service.knex.raw(
      `with event as (
         insert into events (id, workspace_id, body, occurred_at, queued_at, restricted)
         select gen_random_uuid(), 1, '{"type":"incident.created","resource":{"type":"incident","id":9,"reference":"INC-9"}}',
           now(), now(), n > 120 from generate_series(1, 20000) as n returning id, restricted)
       insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, deadline_at, finished_at, restricted)
       select event.id, ?, 1, 'failed', now(), now(), now(), restricted from event order by restricted`,
      [id],
    );
    await service.knex.raw('analyze deliveries');
    const { ids, pages } = await readPages(service.as(OUTSIDER), `${DELIVERIES}?status=failed`, 'deliveries');
    expect([ids.length, new Set(ids).size, pages.length]).toEqual([120, 120, 2]);
    expect((await list({ webhook_id: id, limit: '100' })).map(({ id: delivery }) => delivery)).not.toContain(ids[0]);
  });
});

describe('deliveries of restricted incidents', () => {
  test.each(OUTSIDERS)('do not exist for %s', async (_, outsider) => {
    const webhook = await withRestricted();
    const open = await delivered({ id: 1 });
    await delivered({ id: 2, restricted: true });
    const { id: hidden, event_id: eventId } = (await deliveries(service)).at(-1)!;
    expect((await list()).map(({ id }) => id)).toEqual([hidden, open]);
    expect((await list({}, outsider)).map(({ id }) => id)).toEqual([open]);
    for (const query of [{ event_id: eventId }, { webhook_id: webhook, event_id: eventId }])
      expect([await list(query, outsider), (await list(query)).length]).toEqual([[], 1]);
    const missing = await get(999_999, outsider);
    for (const answer of [await get(hidden, outsider), await redeliver(hidden, outsider)])
      expect(answer).toMatchObject({ status: 404, body: { code: missing.body.code } });
    const audit = async () => service.knex('outbox').where({ type: 'audit.recorded' }).count('* as count');
    const before = await audit();
    expect(await redeliver(hidden)).toMatchObject({ status: 202, body: { delivery: { redelivery: 1 } } });
    expect(await audit()).toEqual(before);
    await finished();
    expect((await list({}, outsider)).map(({ id }) => id)).toEqual([open]);
  });

  test.each([
    ['in the feed', false],
    ['no longer in the feed', true],
  ])('are hidden when an incident %s becomes restricted, and not sent again', async (_, isTrimmed) => {
    await activeSubscription(service, receiver.url());
    const including = await withRestricted();
    await publish(service, { id: 1 });
    await finished();
    if (isTrimmed) await deleteRecordedBefore(service.knex, new Date(Date.now() + 60_000).toISOString());
    await becomesRestricted(1);
    await eventually(async () => (await list({}, OUTSIDER)).length === 0, { what: 'that nothing is shown' });
    const all = await list();
    expect(all).toHaveLength(2);
    for (const { id, webhook_id: webhook } of all) {
      expect(await get(id as number, OUTSIDER)).toMatchObject(refusal(404, 'not_found'));
      expect((await redeliver(id as number)).status).toBe(webhook === including ? 202 : 409);
    }
    await finished();
    expect(receiver.requests.filter(({ path }) => path !== '/with')).toHaveLength(1);
  });

  test('are hidden, too, if a process of the last release has stored them', async () => {
    await withRestricted();
    const id = await delivered({ id: 1, restricted: true });
    await service.knex('deliveries').update({ restricted: false });
    expect(await list({}, OUTSIDER)).toEqual([]);
    expect(await get(id, OUTSIDER)).toMatchObject(refusal(404, 'not_found'));
    expect(await list()).toHaveLength(1);
  });
});

describe('a redelivery', () => {
  const failed = async (): Promise<number> => {
    receiver.respond = () => behave.answer(404);
    const id = await delivered();
    receiver.respond = () => behave.answer(204);
    return id;
  };

  test('sends the event again, for the user who asked, with an entry in the audit log', async () => {
    const { id: webhook } = await activeSubscription(service, receiver.url());
    const first = await failed();
    await service.knex('outbox').delete();
    const { status, body } = await redeliver(first);
    expect(status).toBe(202);
    const { id, event_id: eventId } = body.delivery;
    expect(body.delivery).toMatchObject({ status: 'queued', redelivery: 1, attempts: 0, requested_by: '42' });
    expect(body.delivery.queued_at).toBe(service.clock.now());
    const recorded = await eventually(async () => (await finished()).find((row) => row.id === id));
    expect(recorded).toMatchObject({ status: 'succeeded', event_id: eventId });
    expect(receiver.requests[1]!.body).toBe(receiver.requests[0]!.body);
    expect((await get(id)).body.delivery).toMatchObject({ queued_at: body.delivery.queued_at });
    const [entry] = await service.knex('outbox').where({ type: 'audit.recorded' }).select('body');
    expect(JSON.parse(entry.body).data.entry).toMatchObject({
      ...{ action: 'webhook.redelivered', target: { type: 'webhook', id: webhook } },
      ...{ actor: { type: 'user', user_id: 42 }, before: null, after: { delivery_id: id, event_id: eventId } },
    });
  });

  test('by two at once is one', async () => {
    await activeSubscription(service, receiver.url());
    const first = await failed();
    receiver.respond = () => behave.answer(503);
    const answers = await Promise.all(Array.from({ length: 4 }, async () => redeliver(first)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
    expect(await deliveries(service)).toHaveLength(2);
  });

  test('counts together with those of operators', async () => {
    await activeSubscription(service, receiver.url());
    const first = await failed();
    const log = deliveryLog(service.knex, clockTime(service.clock));
    for (let count = 0; count < 10; count += 1) {
      service.clock.toNextMinute();
      if (count % 2 === 0) expect((await redeliver(first)).status).toBe(202);
      else await log.redeliver({ deliveryId: first, requestedBy: 'ana@ops' }, deliveryLimits({}));
      await finished();
    }
    expect(await redeliver(first)).toMatchObject(refusal(409, 'invalid_resource_state'));
    expect((await list()).map((row) => row['requested_by'])).toEqual(expect.arrayContaining(['operator', null]));
    expect(JSON.stringify(await list())).not.toContain('ana@ops');
  });

  test.each([
    ['whose webhook is paused', 'pause', 409],
    ['whose webhook is revoked', 'revoke', 409],
  ])('of one %s is refused', async (_, verb, status) => {
    const { path } = await activeSubscription(service, receiver.url());
    const first = await failed();
    await service.as().post(`${path}/${verb}`);
    expect(await redeliver(first)).toMatchObject(refusal(status, 'invalid_resource_state'));
  });

  test('in a demo workspace, and of an event past its retention, is refused', async () => {
    await activeSubscription(service, receiver.url());
    const first = await failed();
    const demo = { workspace: { is_demo: true } };
    expect(await redeliver(first, demo)).toMatchObject(refusal(409, 'invalid_resource_state'));
    service.clock.advance(7 * 24 * 3_600_000);
    expect(await redeliver(first)).toMatchObject(refusal(404, 'not_found'));
  });

  test('only validated queues nothing', async () => {
    await activeSubscription(service, receiver.url());
    const first = await failed();
    const answer = await service.as().post(`${DELIVERIES}/${first}/redeliver?validate_only=true`);
    expect(answer).toMatchObject({ status: 202 });
    expect(answer.headers.get('Validated-Only')).toBe('true');
    expect(await deliveries(service)).toHaveLength(1);
  });
});
