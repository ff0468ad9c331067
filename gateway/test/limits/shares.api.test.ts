import { describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { MAX_BODY_BYTES } from '@tocsin/http';
import { eventually } from '@tocsin/testing';
import { type GatewayHarness, type GatewayHarnessOptions, ok, openers } from '../gateway-harness.ts';
import { openConnection, type RawConnection, type RawResponse } from '../send-raw.ts';

const PATH = '/api/v1/incidents';
const { opened, open: openGateway, openService } = openers();

interface Tenant {
  host: string;
  token: string;
}

/** A service that answers when it is told. */
async function startSlowService() {
  const waiting: ServerResponse[] = [];
  return Object.assign(await openService((_request, response) => void waiting.push(response)), { waiting });
}

async function open(options: GatewayHarnessOptions) {
  const gateway = await openGateway(options);
  const acme: Tenant = { host: 'acme.localhost', token: gateway.bearer };
  return { gateway, acme, globex: await addTenant(gateway, 'globex') };
}

async function addTenant({ admin }: GatewayHarness, slug: string): Promise<Tenant> {
  const email = `a@${slug}.example`;
  await admin.createWorkspace({ slug, name: slug });
  await admin.createUser({ workspace: slug, email, name: 'A', role: 'owner', seat: 'responder' });
  const scopes = ['incidents:read', 'incidents:write', 'services:read'];
  const { token } = await admin.createKey({ workspace: slug, user: email, name: 'k', scopes });
  return { host: `${slug}.localhost`, token };
}

/** Opens a connection that sends a text and then nothing. */
function sendPart({ app }: GatewayHarness, text: string): RawConnection {
  const connection = openConnection(app.url, text);
  opened({ close: () => connection.destroy() });
  return connection;
}

const postHead = ({ host, token }: Tenant, ...headers: string[]) =>
  [
    `POST ${PATH} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...headers,
    '',
    '',
  ].join('\r\n');

const expectRefusal = (response: RawResponse, status: number, limit?: string) => {
  expect([response.status, response.body.details?.limit]).toEqual([status, limit]);
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
};

describe('requests under way', () => {
  test('bodies that do not arrive take no slot, neither of their own workspace nor of another', async () => {
    const { gateway, acme, globex } = await open({ env: { MAX_REQUESTS_PER_WORKSPACE: '2' } });
    const slow = Array.from({ length: 50 }, () =>
      sendPart(gateway, postHead(acme, 'Expect: 100-continue', 'Content-Length: 100') + '{'),
    );
    await eventually(() => slow.every(({ received }) => received.startsWith('HTTP/1.1 100')));
    for (const tenant of [acme, globex]) {
      const response = await gateway.send({ method: 'POST', path: PATH, body: { title: 'x' }, ...tenant });
      expect(response.status).toBe(201);
    }
  });

  test('more than the share of a workspace get 429, and other workspaces and services are served', async () => {
    const service = await startSlowService();
    const { gateway, acme, globex } = await open({
      incidentUrl: service.url,
      env: { MAX_REQUESTS_PER_WORKSPACE: '3' },
      shares: { wait: 10 },
    });
    const running = Array.from({ length: 3 }, async () => gateway.send({ path: PATH, ...acme }));
    await eventually(() => service.waiting.length === 3);
    expectRefusal(await gateway.send({ path: PATH, ...acme }), 429, 'requests_in_flight');
    // The share is over all services.
    expectRefusal(await gateway.send({ path: '/api/v1/services', ...acme }), 429, 'requests_in_flight');
    expect((await gateway.send({ path: '/api/v1/services', ...globex })).status).toBe(200);
    running.push(gateway.send({ path: PATH, ...globex }));
    await eventually(() => service.waiting.length === 4);
    service.waiting.forEach(ok);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await gateway.send({ path: '/api/v1/services', ...acme })).status).toBe(200);
    expect(await gateway.metrics()).toMatch(
      /tocsin_refusals_total\{reason="requests_in_flight",workspace_class="standard",app="gateway"\} 2/,
    );
  });

  test('a request waits for a slot for a moment', async () => {
    const service = await startSlowService();
    const { gateway, acme } = await open({
      incidentUrl: service.url,
      env: { MAX_REQUESTS_PER_WORKSPACE: '1' },
      shares: { wait: 60_000 },
    });
    const first = gateway.send({ path: PATH, ...acme });
    await eventually(() => service.waiting.length === 1);
    const second = gateway.send({ path: PATH, ...acme });
    ok(service.waiting[0]);
    expect((await first).status).toBe(200);
    await eventually(() => service.waiting.length === 2);
    ok(service.waiting[1]);
    expect((await second).status).toBe(200);
  });

  test('greedy workspaces leave room at a service for the others', async () => {
    const service = await startSlowService();
    const { gateway, acme, globex } = await open({
      incidentUrl: service.url,
      env: { MAX_REQUESTS_PER_SERVICE: '8' },
      shares: { wait: 10 },
    });
    const statuses: number[] = [];
    const greedy = Array.from({ length: 20 }, async () => {
      statuses.push((await gateway.send({ path: PATH, ...acme })).status);
    });
    await eventually(() => service.waiting.length === 4);
    const other = gateway.send({ path: PATH, ...globex });
    await eventually(() => service.waiting.length === 5);
    // One that arrives later would get a slot that has become free.
    await eventually(() => statuses.length === 16);
    service.waiting.forEach(ok);
    expect((await other).status).toBe(200);
    await Promise.all(greedy);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(16);
  });

  test('a response that is not read takes a slot of its workspace, none of the service, until the client has gone', async () => {
    const large = Buffer.alloc(32 * MAX_BODY_BYTES, 'x');
    const service = await openService((_request, response) => {
      response.writeHead(200, { 'Content-Length': large.length }).end(large);
    });
    const { gateway, acme, globex } = await open({
      incidentUrl: service.url,
      env: { MAX_REQUESTS_PER_WORKSPACE: '2', MAX_REQUESTS_PER_SERVICE: '1' },
      shares: { wait: 10 },
    });
    const readers = [];
    for (let count = 0; count < 2; count += 1) {
      const reader = sendPart(
        gateway,
        `GET ${PATH} HTTP/1.1\r\nHost: ${acme.host}\r\nAuthorization: Bearer ${acme.token}\r\n\r\n`,
      );
      reader.once('data', () => reader.pause());
      await eventually(() => reader.received.startsWith('HTTP/1.1 200'));
      readers.push(reader);
    }
    expectRefusal(await gateway.send({ path: '/api/v1/services', ...acme }), 429, 'requests_in_flight');
    expect((await gateway.send({ path: PATH, ...globex })).bytes.length).toBe(large.length);
    for (const reader of readers) reader.destroy();
    // The gateway stops reading from the service, too.
    await eventually(() => service.aborted === 2);
    await eventually(async () => (await gateway.send({ path: '/api/v1/services', ...acme })).status === 200);
  });
});

describe('arriving bodies', () => {
  const withBytes = (bodyBytesPerWorkspace: number, bodyBytes = Infinity): Partial<GatewayHarnessOptions> => ({
    shares: { bodyBytesPerWorkspace, bodyBytes },
  });

  test('have a bound for each workspace, and the rest of a refused one is discarded', async () => {
    const { gateway, acme, globex } = await open(withBytes(10_000));
    const slow = sendPart(gateway, postHead(acme, 'Content-Length: 10000') + 'x'.repeat(9_999));
    const large = { method: 'POST', path: PATH, body: { title: 'x'.repeat(9_000) } };
    // Until the other body counts, whose workspace may have to be looked up.
    await gateway.send({ path: PATH, ...acme });
    expectRefusal(await gateway.send({ ...large, ...acme }), 429, 'body_bytes_in_flight');
    expect((await gateway.send({ ...large, ...globex })).status).toBe(201);
    slow.destroy();
    await eventually(async () => (await gateway.send({ ...large, ...acme })).status === 201);
  });

  test('have a bound in all: 503 for a workspace that uses nothing of it', async () => {
    const { gateway, acme } = await open(withBytes(10_000, 5_000));
    const response = await gateway.send({ method: 'POST', path: PATH, body: { title: 'x'.repeat(6_000) }, ...acme });
    expect([response.status, response.body.code]).toEqual([503, 'service_unavailable']);
    expectRefusal(response, 503);
    expect((await gateway.send({ method: 'POST', path: PATH, body: { title: 'x' }, ...acme })).status).toBe(201);
  });

  test('that make no progress get 408, and their connection is closed', async () => {
    const { gateway, acme } = await open({
      shares: { body: { deadline: 60_000, progress: 50 } },
    });
    const slow = sendPart(gateway, postHead(acme, 'Content-Length: 100') + '{');
    await eventually(() => slow.received.includes('Fewer than 1000 bytes'));
    expect(slow.received).toMatch(/^HTTP\/1\.1 408 [^]*\r\nConnection: close\r\n/i);
    await eventually(() => slow.destroyed || slow.readableEnded);
  });

  test('that do not arrive in time get 408, however much progress they make', async () => {
    const { gateway, acme } = await open({
      shares: { body: { deadline: 200, progress: 100 } },
    });
    const slow = sendPart(gateway, postHead(acme, 'Content-Length: 1000000'));
    const sending = setInterval(() => slow.write('x'.repeat(2_000)), 10);
    await eventually(() => slow.received.includes('did not arrive within 0.2 seconds'));
    clearInterval(sending);
    expect(slow.received).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('with a content encoding are refused', async () => {
    const { gateway, acme } = await open({});
    const response = await gateway.send({
      method: 'POST',
      path: PATH,
      body: '{"title":"x"}',
      headers: { 'Content-Encoding': 'gzip' },
      ...acme,
    });
    expect([response.status, response.body.code]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('what the requests of a minute cost', () => {
  test('expensive lists use up the limit of cost before the limit of requests', async () => {
    const { gateway, acme, globex } = await open({
      env: { RATE_LIMIT_PER_MINUTE: '60', COST_PER_REQUEST: '1' },
    });
    const search = async (tenant: Tenant) => gateway.send({ path: `${PATH}?q=a&q=b&%71=c`, ...tenant });
    // Base 1, and 10 for each q: 31.
    const responses = [];
    for (let count = 0; count < 4; count += 1) responses.push(await search(acme));
    // The operation of these tests takes one q, so the service refuses the request; the gateway counts it.
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 429, 429]);
    expectRefusal(responses[2] as RawResponse, 429, 'cost_a_minute');
    expect(responses[2]?.headers['x-ratelimit-remaining']).toBe('57');
    expect((await gateway.send({ path: PATH, ...globex })).status).toBe(200);
  });

  test('what a service adds to the cost of a request counts with the next one, and is no header for the client', async () => {
    const service = await openService((_, response) => void response.setHeader('X-Tocsin-Cost', '100').end('{}'));
    const { gateway, acme, globex } = await open({
      incidentUrl: service.url,
      env: { RATE_LIMIT_PER_MINUTE: '60', COST_PER_REQUEST: '3' },
    });
    // 101 of 180, and 202 with the second one, which begins below the limit.
    const first = await gateway.send({ path: PATH, ...acme });
    expect(first.headers).not.toHaveProperty('x-tocsin-cost');
    expect((await gateway.send({ path: PATH, ...acme })).status).toBe(200);
    // A response is counted when it is closed, a moment after the client has it.
    const refused = await eventually(async () => {
      const response = await gateway.send({ path: PATH, ...acme });
      return response.status === 429 && response;
    });
    expectRefusal(refused, 429, 'cost_a_minute');
    expect((await gateway.send({ path: PATH, ...globex })).status).toBe(200);
  });

  test('a write whose client has gone costs what the service adds, and takes its slot until the service has responded', async () => {
    const service = await startSlowService();
    const { gateway, acme, globex } = await open({
      incidentUrl: service.url,
      env: { RATE_LIMIT_PER_MINUTE: '60', COST_PER_REQUEST: '3', MAX_REQUESTS_PER_WORKSPACE: '1' },
      shares: { wait: 10 },
    });
    const client = sendPart(gateway, postHead(acme, 'Content-Length: 13') + '{"title":"x"}');
    await eventually(() => service.waiting.length === 1);
    client.destroy();
    const other = { path: '/api/v1/services' };
    expect((await gateway.send({ ...other, ...globex })).status).toBe(200);
    expectRefusal(await gateway.send({ ...other, ...acme }), 429, 'requests_in_flight');

    service.waiting[0]?.setHeader('X-Tocsin-Cost', '200');
    ok(service.waiting[0]);
    const response = await eventually(async () => {
      const { status, body } = await gateway.send({ ...other, ...acme });
      return body.details?.limit !== 'requests_in_flight' && { status, body };
    });
    expect([response.status, response.body.details?.limit]).toEqual([429, 'cost_a_minute']);
    expect(service.aborted).toBe(0);
  });

  test('large requests and responses use up the limit of bytes', async () => {
    const { gateway, acme, globex } = await open({
      env: { RATE_LIMIT_PER_MINUTE: '60', BYTES_PER_REQUEST: '10000' },
    });
    const post = async (tenant: Tenant) =>
      gateway.send({ method: 'POST', path: PATH, body: { title: 'x'.repeat(400_000) }, ...tenant });
    expect([(await post(acme)).status, (await post(acme)).status]).toEqual([201, 201]);
    // A response is counted when it is closed, a moment after the client has it.
    const refused = await eventually(async () => {
      const response = await gateway.send({ path: PATH, ...acme });
      return response.status === 429 && response;
    });
    expectRefusal(refused, 429, 'bytes_a_minute');
    expect((await post(globex)).status).toBe(201);
  });
});

describe('bytes that are written in an hour', () => {
  const env = { MAX_WRITTEN_MB_PER_HOUR: '1' };
  const post = async (gateway: GatewayHarness, tenant: Tenant, bytes: number) =>
    gateway.send({ method: 'POST', path: PATH, body: { title: 'x'.repeat(bytes) }, ...tenant });

  test('refuse large writes first, then all of them, and neither reads nor deletions', async () => {
    const { gateway, acme, globex } = await open({ env });
    for (let count = 0; count < 3; count += 1) expect((await post(gateway, acme, 350_000)).status).toBe(201);
    // A write is counted when its response is closed, a moment after the client has it.
    const refused = await eventually(async () => {
      const response = await post(gateway, acme, 4_096);
      return response.status === 429 && response;
    });
    expectRefusal(refused, 429, 'written_bytes_an_hour');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
    expect((await post(gateway, globex, 4_096)).status).toBe(201);
    expect((await post(gateway, acme, 4_000)).status).toBe(201);

    const small = await eventually(async () => {
      const response = await post(gateway, acme, 4_000);
      return response.status === 429 && response;
    });
    expectRefusal(small, 429, 'written_bytes_an_hour');
    expect((await gateway.send({ path: PATH, ...acme })).status).toBe(200);
    expect((await gateway.send({ method: 'DELETE', path: '/api/v1/timeline/1', ...acme })).status).toBe(204);
  });

  test('are those of writes that succeed, with their responses and what their services have fetched', async () => {
    const answer = { status: 400, fetched: 0, bytes: 0 };
    const service = await openService((_request, response) => {
      response.writeHead(answer.status, { 'X-Tocsin-Fetched-Bytes': String(answer.fetched) });
      response.end('x'.repeat(answer.bytes));
    });
    const { gateway, acme } = await open({ env, incidentUrl: service.url });
    for (let count = 0; count < 4; count += 1) expect((await post(gateway, acme, 400_000)).status).toBe(400);
    Object.assign(answer, { status: 201, bytes: 500_000 });
    expect((await post(gateway, acme, 5_000)).status).toBe(201);
    Object.assign(answer, { bytes: 0, fetched: 600_000 });
    expect((await post(gateway, acme, 5_000)).status).toBe(201);
    const refused = await eventually(async () => {
      const response = await post(gateway, acme, 5_000);
      return response.status === 429 && response;
    });
    expectRefusal(refused, 429, 'written_bytes_an_hour');
  });
});

test('a refusal by the limit of requests names its limit, too', async () => {
  const { gateway, acme } = await open({ env: { RATE_LIMIT_PER_MINUTE: '1' } });
  await gateway.send({ path: PATH, ...acme });
  expectRefusal(await gateway.send({ path: PATH, ...acme }), 429, 'requests_a_minute');
});
