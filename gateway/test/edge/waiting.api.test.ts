import { describe, expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { addMilliseconds, systemClock } from '@tocsin/runtime';
import { eventually, openEventStream } from '@tocsin/testing';
import { memoryRequestCounter } from '../../src/app.ts';
import { type GatewayHarness, type GatewayHarnessOptions, ok, openers } from '../gateway-harness.ts';
import { memberOf } from '../members.ts';

const WAITING = '/api/v1/incident-events';
const ORDINARY = '/api/v1/incidents';
const { opened, open: openGateway, openService } = openers();

/** A service whose requests wait until the test answers them; those of another path, and with `wait=0`, are answered at once. */
async function startWaitingService(announce = true) {
  const waiting: { request: IncomingMessage; response: ServerResponse }[] = [];
  /** The targets of the requests that were answered at once. */
  const answered: (string | undefined)[] = [];
  const service = await openService((request, response) => {
    if (request.url?.startsWith(WAITING) !== true || request.url.includes('wait=0')) {
      answered.push(request.url);
      ok(response);
      return;
    }
    waiting.push({ request, response });
    if (request.headers.accept === 'text/event-stream') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
      response.flushHeaders();
    } else if (announce) response.writeProcessing();
  });
  return Object.assign(service, { waiting, answered });
}

async function open(options: GatewayHarnessOptions = {}) {
  const service = await startWaitingService();
  const gateway = await openGateway({ ...options, incidentUrl: service.url });
  return { service, gateway, token: gateway.bearer };
}

const openStream = async ({ app }: GatewayHarness, token: string, headers: Record<string, string> = {}) =>
  opened(
    await openEventStream(new URL(WAITING, app.url), {
      ...{ Host: 'acme.localhost', Authorization: `Bearer ${token}` },
      ...headers,
    }),
  );

const poll = async (gateway: GatewayHarness, token: string) => gateway.send({ path: WAITING, token });

/** Of the gateway's own metric, which counts requests as soon as they are known to wait. */
const countWaiting = async (gateway: GatewayHarness): Promise<number> =>
  Number(/^tocsin_gateway_waiting_requests\S* (\d+)$/m.exec(await gateway.metrics())?.[1]);
const reaches = async (gateway: GatewayHarness, count: number) =>
  eventually(async () => (await countWaiting(gateway)) === count, { what: `${count} waiting requests` });

describe('a stream', () => {
  test('is passed on as it comes, with the headers of both sides', async () => {
    const { service, gateway, token } = await open();
    const reader = await openStream(gateway, token, { 'Last-Event-ID': 'abc' });
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    });
    const [{ request, response } = {}] = service.waiting;
    expect(request?.headers).toMatchObject({ 'last-event-id': 'abc', accept: 'text/event-stream' });
    for (const message of ['id: 1\n\n', ':\n\n', 'id: 2\n\n']) {
      response?.write(message);
      await eventually(() => reader.text.endsWith(message), { what: 'the message' });
    }
    response?.end();
    expect(await reader.ended).toBe(true);
    await reaches(gateway, 0);
  });

  test('is counted while it flows, and ends when its workspace has read as much as it may in a minute', async () => {
    const requestCounter = memoryRequestCounter();
    let counts = 0;
    const { service, gateway, token } = await open({
      env: { RATE_LIMIT_PER_MINUTE: '60', BYTES_PER_REQUEST: '10000' },
      overrides: {
        requestCounter: {
          ...requestCounter,
          count: (...args) => {
            counts += 1;
            return requestCounter.count(...args);
          },
        },
      },
    });
    const [busy, idle] = [await openStream(gateway, token), await openStream(gateway, token)];
    await eventually(() => service.waiting.length === 2);
    const [busyResponse, idleResponse] = service.waiting.map(({ response }) => response);
    // The headers of the idle stream are counted before the other one exceeds the limit.
    const counted = counts;
    busyResponse?.write(':\n\n');
    await eventually(() => counts > counted);
    busyResponse?.write(': 400,000 bytes'.padEnd(400_000));
    await eventually(() => busy.text.length > 400_000);
    expect((await gateway.send({ path: ORDINARY, token })).status).toBe(200);
    busyResponse?.write(': 200,000 more'.padEnd(200_000));
    expect(await busy.ended).toBe(true);
    const refused = await gateway.send({ path: ORDINARY, token });
    expect(refused).toMatchObject({ status: 429, body: { details: { limit: 'bytes_a_minute' } } });

    // A stream without anything to send stays open until it has.
    expect(idle.text).toBe('');
    idleResponse?.write(': an event\n\n');
    expect(await idle.ended).toBe(true);
    expect(idle.text).toBe(': an event\n\n');
  });

  test('ends at the service when its client goes away, and at the client when the service breaks', async () => {
    const { service, gateway, token } = await open();
    const reader = await openStream(gateway, token);
    reader.close();
    await eventually(() => service.aborted === 1, { what: 'the end at the service' });
    const other = await openStream(gateway, token);
    service.waiting.at(-1)?.response.destroy();
    expect(await other.ended).toBe(false);
    await reaches(gateway, 0);
  });
});

describe('a request that waits', () => {
  test('is answered later than others, and occupies neither their slots nor their deadline', async () => {
    const { service, gateway, token } = await open({
      env: { MAX_REQUESTS_PER_WORKSPACE: '2', MAX_REQUESTS_PER_SERVICE: '2' },
    });
    const polls = [poll(gateway, token), poll(gateway, token)];
    await reaches(gateway, 2);
    polls.push(poll(gateway, token));
    const stream = await openStream(gateway, token);
    await reaches(gateway, 4);
    const others = [1, 2, 3, 4].map(async () => gateway.send({ path: ORDINARY, token }));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const { request, response } of service.waiting) {
      if (request.headers.accept === 'text/event-stream') continue;
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"route":"late"}');
    }
    expect((await Promise.all(polls)).map(({ body }) => body)).toEqual(polls.map(() => ({ route: 'late' })));
    stream.close();
    await reaches(gateway, 0);
  });

  test('has the deadline of its operation', async () => {
    const { service, gateway, token } = await open({ deadline: 700 });
    const response = await poll(gateway, token);
    expect([response.status, response.body.code]).toEqual([503, 'service_unavailable']);
    await eventually(() => service.aborted === 1, { what: 'the end at the service' });
    await reaches(gateway, 0);
  });

  test('is not announced by a service of an operation that cannot wait', async () => {
    const service = await openService((_request, response) => {
      response.writeProcessing();
      ok(response);
    });
    const gateway = await openGateway({ incidentUrl: service.url });
    expect((await gateway.send({ path: ORDINARY, token: gateway.bearer })).status).toBe(200);
    expect(await countWaiting(gateway)).toBe(0);
  });

  test('is refused when the workspace has as many as it may, and its request to the service is aborted', async () => {
    const { service, gateway, token } = await open({ env: { MAX_WAITING_REQUESTS_PER_WORKSPACE: '2' } });
    const reader = await openStream(gateway, token);
    const waiting = poll(gateway, token);
    await reaches(gateway, 2);
    const refused = await poll(gateway, token);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', details: { limit: 'waiting_requests' } },
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const refusedStream = await openStream(gateway, token);
    expect(refusedStream.response.statusCode).toBe(429);
    expect(refusedStream.response.headers['content-type']).toMatch('application/json');
    await eventually(() => service.aborted === 2, { what: 'the end at the service' });
    reader.close();
    await reaches(gateway, 1);
    expect((await openStream(gateway, token)).response.statusCode).toBe(200);
    service.waiting[1]?.response.end('{}');
    await waiting;
  });
});

describe('a gateway that stops', () => {
  test('asks again with the whole query, also after a second question mark', async () => {
    const { service, gateway, token } = await open();
    const waiting = gateway.send({ path: `${WAITING}?after=a?b&types=incident.created`, token });
    await reaches(gateway, 1);
    await gateway.app.stop();
    expect((await waiting).status).toBe(200);
    const [path, ...query] = (service.answered.at(-1) ?? '').split('?');
    expect([path, Object.fromEntries(new URLSearchParams(query.join('?')))]).toEqual([
      WAITING,
      { after: 'a?b', types: 'incident.created', wait: '0' },
    ]);
  });

  test('ends streams and waits at once, as if their time were over', async () => {
    const { gateway, token } = await open();
    const reader = await openStream(gateway, token);
    const waiting = poll(gateway, token);
    await reaches(gateway, 2);
    await gateway.app.stop();
    expect(await reader.ended).toBe(true);
    const response = await waiting;
    expect([response.status, response.body]).toEqual([200, { route: 'ok' }]);
  });
});

describe('the key of a request that waits', () => {
  async function openWithKeys(overrides: GatewayHarnessOptions['overrides'] = {}) {
    const opening = await open({ overrides });
    const { gateway } = opening;
    const email = 'reader@acme.example';
    await gateway.admin.createUser({ workspace: 'acme', email, name: 'R', role: 'owner', seat: 'responder' });
    const create = async (expires?: string) =>
      gateway.admin.createKey({
        workspace: 'acme',
        user: email,
        name: 'k',
        scopes: ['incidents:read'],
        ...(expires !== undefined && { expires }),
      });
    return { ...opening, email, create };
  }

  test('ends the wait when it is revoked', async () => {
    const { gateway, service, token, create } = await openWithKeys();
    const { key, token: revoked } = await create();
    const reader = await openStream(gateway, revoked);
    const waiting = poll(gateway, revoked);
    const other = await openStream(gateway, token);
    await reaches(gateway, 3);
    await gateway.admin.revokeKey(key.id);
    expect(await reader.ended).toBe(true);
    const response = await waiting;
    expect([response.status, response.body.code]).toEqual([401, 'authentication_required']);
    await eventually(() => service.aborted === 2, { what: 'the end at the service' });
    await reaches(gateway, 1);
    service.waiting.at(-1)?.response.write('id: 1\n\n');
    await eventually(() => other.text !== '', { what: 'a message of the other stream' });
  });

  test('ends the wait when its owner may no longer do the same', async () => {
    const { gateway, email, create } = await openWithKeys();
    const { token } = await create();
    const reader = await openStream(gateway, token);
    await gateway.admin.setUser({ workspace: 'acme', email, name: 'Renamed' });
    await gateway.admin.setUser({ workspace: 'acme', email, seat: 'none' });
    expect(await reader.ended).toBe(true);
    const next = await openStream(gateway, token);
    expect(next.response.statusCode).toBe(200);
  });

  test('ends the wait when its owner is deactivated through the API', async () => {
    const { gateway, email, create } = await openWithKeys();
    const { token } = await create();
    const { client } = await memberOf(gateway, { role: 'owner' });
    const reader = await openStream(gateway, token);
    const waiting = poll(gateway, token);
    await reaches(gateway, 2);
    const { id } = await gateway.admin.getUser('acme', email);
    const headers = { 'If-Service-Resource-Version': '1' };
    expect((await client.patch(`/api/v1/settings/users/${id}`, { active: false }, headers)).status).toBe(200);
    expect(await reader.ended).toBe(true);
    expect((await waiting).status).toBe(401);
  });

  test('ends the wait when it expires', async () => {
    let now = systemClock.now();
    const { gateway, create } = await openWithKeys({ clock: { now: () => now } });
    const { token } = await create(addMilliseconds(now, 60_000));
    const reader = await openStream(gateway, token);
    expect(reader.response.statusCode).toBe(200);
    now = addMilliseconds(now, 60_000);
    expect(await reader.ended).toBe(true);
    expect((await openStream(gateway, token)).response.statusCode).toBe(401);
  });
});
