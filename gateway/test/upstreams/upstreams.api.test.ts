import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { MAX_BODY_BYTES } from '@tocsin/http';
import { eventually, loopbackServer, serve } from '@tocsin/testing';
import {
  type GatewayHarness,
  type GatewayHarnessOptions,
  ok,
  openers,
  startGatewayHarness,
} from '../gateway-harness.ts';
import { openConnection, type RawResponse, sendBytes } from '../send-raw.ts';

const PATH = '/api/v1/incidents';
const inChunks = { method: 'POST', path: PATH, chunkSize: 65_536 };
const { opened, open, openService } = openers();

/** Starts a gateway whose incident service responds as the test says, and counts the service's requests. */
async function openWithService(respond: Parameters<typeof openService>[0], options: GatewayHarnessOptions = {}) {
  const upstream = await openService(respond);
  return { upstream, gateway: await open({ ...options, incidentUrl: upstream.url }) };
}

const UNKNOWN = { outcome: 'unknown' };

/** @param details of a write that the service may have carried out */
const expectUnavailable = (response: RawResponse, details?: typeof UNKNOWN) => {
  expect([response.status, response.body.code]).toEqual([503, 'service_unavailable']);
  expect(response.body.details).toEqual(details);
  expect(response.body.request_id).toBe(response.headers['x-request-id']);
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  expect(response.headers).toHaveProperty('x-ratelimit-remaining');
};

describe('a service that does not respond', () => {
  test('is down: 503, until it is up again', async () => {
    const { gateway, upstream } = await openWithService((_request, response) => ok(response));
    const { port } = upstream;
    expect((await gateway.send({ path: PATH, token: gateway.bearer })).status).toBe(200);
    await upstream.close();
    expectUnavailable(await gateway.send({ path: PATH, token: gateway.bearer }));
    expectUnavailable(await gateway.send({ method: 'POST', path: PATH, body: { title: 'x' }, token: gateway.bearer }));
    for (let count = 0; count < 10; count += 1)
      expectUnavailable(await gateway.send({ path: PATH, token: gateway.bearer }));
    // Requests to other services still work.
    expect((await gateway.send({ path: '/api/v1/services', token: gateway.bearer })).status).toBe(200);

    opened(await serve((_request, response) => ok(response), { port }));
    await eventually(async () => (await gateway.send({ path: PATH, token: gateway.bearer })).status === 200);
  });

  test('is too busy for one health check: a write gets its answer; for two: 503', async () => {
    let silentChecks = 0;
    const waiting: ServerResponse[] = [];
    // Not with the server of the services: a gateway does not take the silence of its own process for an end.
    const { port } = opened(
      await loopbackServer(
        http.createServer((request, response) => {
          if (request.url !== '/healthz') waiting.push(response);
          else if (silentChecks > 0) silentChecks -= 1;
          else for (const each of [response, ...waiting.splice(0)]) ok(each);
        }),
      ),
    );
    const gateway = await open({ incidentUrl: `http://127.0.0.1:${port}` });
    const write = async (checks: number) => {
      silentChecks = checks;
      return gateway.send({ method: 'POST', path: PATH, body: { title: 'x' }, token: gateway.bearer });
    };
    expect((await write(1)).status).toBe(200);
    expectUnavailable(await write(2), UNKNOWN);
    await eventually(async () => (await gateway.send({ path: PATH, token: gateway.bearer })).status === 200);
  });

  test('resets the connection: 503, and a request is sent again only if it reads', async () => {
    const { gateway, upstream } = await openWithService((request) => request.socket.resetAndDestroy());
    const write = { method: 'POST', path: PATH, body: { title: 'x' } };
    expectUnavailable(await gateway.send({ ...write, token: gateway.bearer }), UNKNOWN);
    expect(upstream.requests).toBe(1);
    expectUnavailable(await gateway.send({ path: PATH, token: gateway.bearer }));
    expect(upstream.requests).toBe(3);
  });

  test('resets the connection during a body: the connection of the client still works', async () => {
    const { gateway } = await openWithService((request) =>
      request.once('data', () => request.socket.resetAndDestroy()),
    );
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const body = 'x'.repeat(MAX_BODY_BYTES);
    for (let count = 0; count < 3; count += 1) {
      const answer = await gateway.send({ method: 'POST', path: PATH, body, token: gateway.bearer, agent });
      expectUnavailable(answer, UNKNOWN);
    }
    expect((await gateway.send({ path: '/api/v1/services', token: gateway.bearer, agent })).status).toBe(200);
    agent.destroy();
  });

  test('does not send HTTP: 503', async () => {
    const { gateway } = await openWithService((request) => request.socket.end('not HTTP\r\n\r\n'));
    expectUnavailable(await gateway.send({ path: PATH, token: gateway.bearer }));
  });

  test('refuses the principal, as if the clocks differed: 503, because the token is valid', async () => {
    const { gateway, upstream } = await openWithService((_request, response) => response.writeHead(401).end('{}'));
    expectUnavailable(await gateway.send({ path: PATH, token: gateway.bearer }));
    expectUnavailable(await gateway.send({ method: 'POST', path: PATH, body: { title: 'x' }, token: gateway.bearer }));
    expect(upstream.requests).toBe(2);
  });

  test('is slow: 503 at the deadline of the operation, and the request is aborted', async () => {
    const { gateway, upstream } = await openWithService(() => undefined, { deadline: 100 });
    expectUnavailable(await gateway.send({ path: PATH, token: gateway.bearer }));
    const write = { method: 'POST', path: PATH, body: { title: 'x' } };
    expectUnavailable(await gateway.send({ ...write, token: gateway.bearer }), UNKNOWN);
    await eventually(() => upstream.aborted === 2);
    expect(upstream.requests).toBe(2);
  });

  test('gets no requests after its health check has failed, until it succeeds', async () => {
    const { gateway, upstream } = await openWithService((request, response, { healthy }) => {
      if (healthy) ok(response);
      else request.socket.resetAndDestroy();
    });
    upstream.healthy = false;
    const reachesService = async () => {
      const before = upstream.requests;
      expectUnavailable(await gateway.send({ path: PATH, token: gateway.bearer }));
      return upstream.requests > before;
    };
    expect(await reachesService()).toBe(true);
    await eventually(async () => !(await reachesService()));
    expect(await reachesService()).toBe(false);
    upstream.healthy = true;
    await eventually(async () => (await gateway.send({ path: PATH, token: gateway.bearer })).status === 200);
  });

  test('truncates its response: the response to the client is truncated, too', async () => {
    const { gateway } = await openWithService((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 });
      response.write('{"half":');
      setImmediate(() => response.destroy());
    });
    await expect(gateway.send({ path: PATH, token: gateway.bearer })).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });
});

describe('a service with several addresses', () => {
  const answer = (_request: IncomingMessage, response: ServerResponse) => ok(response);
  const openOver = async (...urls: string[]) => open({ incidentUrl: urls.join() });
  const post = async ({ send, bearer }: Awaited<ReturnType<typeof open>>) =>
    send({ method: 'POST', path: PATH, body: { title: 'x' }, token: bearer });
  const read = async ({ send, bearer }: Awaited<ReturnType<typeof open>>, method = 'GET') =>
    (await send({ method, path: PATH, token: bearer })).status;

  test('shares its requests out', async () => {
    const [first, second] = [await openService(answer), await openService(answer)];
    const gateway = await openOver(first.url, second.url);
    for (let count = 0; count < 6; count += 1) expect(await read(gateway)).toBe(200);
    expect([first.requests, second.requests]).toEqual([3, 3]);
  });

  test('gets what one of them refused, whatever it is, and loses no address by it', async () => {
    const [gone, other] = [await openService(answer), await openService(answer)];
    const gateway = await openOver(gone.url, other.url);
    await gone.close();
    for (let count = 0; count < 4; count += 1) {
      expect((await post(gateway)).status).toBe(200);
      expect(await read(gateway)).toBe(200);
    }
    expect(other.requests).toBe(8);
    await eventually(async () =>
      (await gateway.metrics()).includes(
        'tocsin_gateway_upstream_addresses{upstream="incident",state="down",app="gateway"} 1',
      ),
    );
    expect(await gateway.metrics()).toMatch(/tocsin_gateway_upstream_available\{upstream="incident",app="gateway"\} 1/);
    expect(await gateway.metrics()).toMatch(
      /tocsin_gateway_upstream_failures_total\{upstream="incident",app="gateway"\} 0/,
    );
    opened(await serve((_request, response) => ok(response), { port: gone.port }));
    await eventually(async () => !/state="down",app="gateway"\} [1-9]/.test(await gateway.metrics()));
  });

  test('gets a read again that one of them broke off, and a write only once', async () => {
    const [broken, other] = [
      await openService((request) => request.socket.resetAndDestroy()),
      await openService(answer),
    ];
    const gateway = await openOver(broken.url, other.url);
    for (let count = 0; count < 4; count += 1) {
      expect(await read(gateway)).toBe(200);
      expect(await read(gateway, 'HEAD')).toBe(200);
    }
    const before = broken.requests + other.requests;
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await post(gateway)).status);
    expect(statuses.toSorted()).toEqual([200, 200, 503, 503]);
    expect(broken.requests + other.requests).toBe(before + 4);
  });

  test('gets a read again that one of them does not answer because it hangs', async () => {
    const hanging = opened(await loopbackServer(http.createServer(() => undefined)));
    const other = await openService(answer);
    const gateway = await openOver(`http://127.0.0.1:${hanging.port}`, other.url);
    const statuses = await Promise.all(Array.from({ length: 4 }, async () => read(gateway)));
    expect(statuses).toEqual([200, 200, 200, 200]);
  });

  test('gets nothing at an address that stops, as long as there is another one', async () => {
    const [stopping, other] = [await openService(answer), await openService(answer)];
    const gateway = await openOver(stopping.url, other.url);
    expect(await read(gateway)).toBe(200);
    stopping.drain();
    // The next response says so, or the next health check.
    await eventually(async () => {
      const before = stopping.requests;
      for (let count = 0; count < 4; count += 1) expect((await post(gateway)).status).toBe(200);
      return stopping.requests === before;
    });
    await stopping.close();
    expect((await post(gateway)).status).toBe(200);
  });
});

test('a gateway that drains refuses readiness, serves on, and closes each connection after its response', async () => {
  const { gateway } = await openWithService((_request, response) => ok(response), { env: { DRAIN_SECONDS: '0.3' } });
  const send = async (path: string) => {
    const { status, headers } = await gateway.send({ path, token: gateway.bearer });
    return [status, headers.connection];
  };
  const agent = new http.Agent({ keepAlive: true });
  const reused = async () => (await gateway.send({ path: PATH, token: gateway.bearer, agent })).headers.connection;
  expect(await reused()).toBe('keep-alive');
  const stopped = gateway.app.stop();
  expect(await reused()).toBe('close');
  expect(await send('/readyz')).toEqual([503, 'close']);
  expect(await send(PATH)).toEqual([200, 'close']);
  const { status } = await fetch(new URL('/readyz', gateway.app.internalUrl));
  expect(status).toBe(503);
  await stopped;
  agent.destroy();
  await expect(send('/readyz')).rejects.toThrow('ECONNREFUSED');
});

describe('what does not count as a failure of the service', () => {
  test('error responses, which are passed on', async () => {
    const { gateway, upstream } = await openWithService((_request, response) => {
      response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '7' });
      response.end('{"code":"service_unavailable","message":"own"}');
    });
    for (let count = 0; count < 20; count += 1) {
      const response = await gateway.send({ path: PATH, token: gateway.bearer });
      expect([response.status, response.body.message, response.headers['retry-after']]).toEqual([503, 'own', '7']);
    }
    expect(upstream.requests).toBe(20);
  });

  test('clients that close their connection', async () => {
    const { gateway, upstream } = await openWithService((request, response) => {
      if (request.method === 'GET') setTimeout(() => ok(response), 60_000).unref();
      else ok(response);
    });
    for (let count = 1; count <= 15; count += 1) {
      const request = http.get(`${gateway.app.url}${PATH}`, {
        headers: { Host: 'acme.localhost', Authorization: `Bearer ${gateway.bearer}` },
        agent: false,
      });
      request.on('error', () => undefined);
      await eventually(() => upstream.requests === count);
      request.destroy();
      await eventually(() => upstream.aborted === count);
    }
    const response = await gateway.send({ method: 'POST', path: PATH, body: { title: 'x' }, token: gateway.bearer });
    expect(response.status).toBe(200);
  });

  test('clients that close their connection during the body, of which it learns nothing', async () => {
    const { gateway, upstream } = await openWithService((_request, response) => ok(response));
    for (let count = 0; count < 10; count += 1) {
      const socket = openConnection(
        gateway.app.url,
        `POST ${PATH} HTTP/1.1\r\nHost: acme.localhost\r\nAuthorization: Bearer ${gateway.bearer}\r\n` +
          'Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n{',
      );
      await once(socket, 'data');
      socket.destroy();
    }
    const response = await gateway.send({ method: 'POST', path: PATH, body: { title: 'x' }, token: gateway.bearer });
    expect([response.status, upstream.requests]).toEqual([200, 1]);
  });

  test('clients that send slowly', async () => {
    const { gateway } = await openWithService(
      (request, response) => void request.resume().on('end', () => ok(response)),
      {
        deadline: 50,
      },
    );
    const request = http.request(`${gateway.app.url}${PATH}`, {
      method: 'POST',
      headers: { Host: 'acme.localhost', Authorization: `Bearer ${gateway.bearer}`, 'Content-Length': 10 },
      agent: false,
    });
    const status = new Promise<number | undefined>((resolve, reject) => {
      request.on('response', (response) => resolve(response.resume().statusCode));
      request.on('error', reject);
    });
    for (let count = 0; count < 10; count += 1) {
      request.write('x');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    request.end();
    expect(await status).toBe(200);
  });
});

describe('bodies', () => {
  const post = (gateway: GatewayHarness & { bearer: string }, ...headers: string[]) =>
    [
      `POST ${PATH} HTTP/1.1`,
      'Host: acme.localhost',
      `Authorization: Bearer ${gateway.bearer}`,
      'Content-Type: application/json',
      ...headers,
      '',
      '',
    ].join('\r\n');

  test('of exactly the limit are accepted, with Content-Length and in chunks', async () => {
    const gateway = await open();
    const body = JSON.stringify({ title: 'x'.repeat(MAX_BODY_BYTES - 12) });
    expect(body.length).toBe(MAX_BODY_BYTES);
    expect((await gateway.send({ method: 'POST', path: PATH, body, token: gateway.bearer })).status).toBe(201);
    expect((await gateway.send({ ...inChunks, body, token: gateway.bearer })).status).toBe(201);
  });

  test('have the limit that the operator has set, which the error names', async () => {
    const gateway = await open({ env: { MAX_BODY_BYTES: '131072' } });
    const send = async (length: number) =>
      gateway.send({ method: 'POST', path: PATH, body: `"${'x'.repeat(length - 2)}"`, token: gateway.bearer });
    expect(await send(131_073)).toMatchObject({
      status: 413,
      body: { code: 'request_body_too_large', message: 'The body must be at most 131072 bytes' },
    });
    expect((await send(131_072)).status).toBe(400);
  });

  test('one byte over the limit are refused by the gateway, or in chunks by the service', async () => {
    const gateway = await open();
    const body = JSON.stringify({ title: 'x'.repeat(MAX_BODY_BYTES - 11) });
    const announced = await gateway.send({ method: 'POST', path: PATH, body, token: gateway.bearer });
    expect([announced.status, announced.body.code]).toEqual([413, 'request_body_too_large']);
    expect(announced.headers).not.toHaveProperty('x-ratelimit-limit');
    const chunked = await gateway.send({ ...inChunks, body, token: gateway.bearer });
    expect([chunked.status, chunked.body.code]).toEqual([413, 'request_body_too_large']);
    expect(chunked.headers).toHaveProperty('x-ratelimit-limit');
  });

  test('over the limit of the gateway in chunks are too large, whatever the limit of the service', async () => {
    // The service accepts 1 MiB.
    const gateway = await open({ env: { MAX_BODY_BYTES: '131072' } });
    const body = JSON.stringify({ title: 'x'.repeat(131_072) });
    expect(await gateway.send({ ...inChunks, body, token: gateway.bearer })).toMatchObject({
      status: 413,
      body: { code: 'request_body_too_large', message: 'The body must be at most 131072 bytes' },
    });
    const headers = { 'X-Tocsin-Body-Limit': '1' };
    const small = { method: 'POST', path: PATH, body: '{"title":"x"}', token: gateway.bearer, headers };
    expect((await gateway.send(small)).status).toBe(201);
  });

  test.each([
    ['in chunks', 'Transfer-Encoding: chunked'],
    ['in chunks, with Connection: close', 'Transfer-Encoding: chunked\r\nConnection: close'],
    ['with Content-Length', `Content-Length: ${8 * MAX_BODY_BYTES}`],
    ['with Content-Length and Connection: close', `Content-Length: ${8 * MAX_BODY_BYTES}\r\nConnection: close`],
    ['with an upgrade', `Content-Length: ${8 * MAX_BODY_BYTES}\r\nConnection: Upgrade\r\nUpgrade: h2c`],
  ])(
    'far over the limit, %s: a client that sends the whole body before it reads still gets 413',
    async (_what, header) => {
      const gateway = await open();
      const piece = 'x'.repeat(65_536);
      for (let count = 0; count < 10; count += 1) {
        const socket = connect({ host: '127.0.0.1', port: Number(new URL(gateway.app.url).port) });
        const failed = new Promise<never>((_resolve, reject) => socket.on('error', reject));
        const send = async (text: string) => {
          if (!socket.write(text))
            await Promise.race([failed, new Promise((resolve) => socket.once('drain', resolve))]);
        };
        const isChunked = header.startsWith('Transfer');
        const pieces = Array.from({ length: (8 * MAX_BODY_BYTES) / piece.length }, () =>
          isChunked ? `10000\r\n${piece}\r\n` : piece,
        );
        if (isChunked) pieces.push('0\r\n\r\n');
        // A connection closes if its body has not ended when the response begins: that of every second one cannot have.
        const kept = count % 2 === 0 ? [] : pieces.splice(-1);
        await send(post(gateway, header));
        for (const each of pieces) await send(each);
        let received = '';
        socket.on('data', (chunk) => (received += chunk.toString()));
        await Promise.race([failed, eventually(() => received.includes('request_body_too_large'))]);
        expect(received).toMatch(/^HTTP\/1\.1 413 /);
        if (kept.length > 0) {
          expect(received).toMatch(/^HTTP\/1\.1 413 [^]*\r\nConnection: close\r\n/);
          for (const each of kept) await send(each);
          await Promise.race([failed, once(socket, 'close')]);
        }
        socket.destroy();
      }
      expect((await gateway.send({ path: PATH, token: gateway.bearer })).status).toBe(200);
    },
  );

  test('an endless body uses no memory, and other requests still work', async () => {
    const gateway = await open();
    const socket = openConnection(gateway.app.url, post(gateway, 'Transfer-Encoding: chunked'));
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const before = process.memoryUsage().rss;
    let sent = 0;
    while (sent < 200) {
      sent += 1;
      if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
    }
    expect(await eventually(() => socket.received !== '' && socket.received)).toMatch(/^HTTP\/1\.1 413 /);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_048_576);
    expect((await gateway.send({ path: PATH, token: gateway.bearer })).status).toBe(200);
    socket.destroy();
  });

  test('a connection can be reused after a refused body', async () => {
    const gateway = await open();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const big = 'x'.repeat(MAX_BODY_BYTES + 1);
    const statuses = [];
    for (let count = 0; count < 3; count += 1) {
      statuses.push(
        (await gateway.send({ method: 'POST', path: PATH, body: big, token: gateway.bearer, agent })).status,
      );
      statuses.push((await gateway.send({ method: 'POST', path: PATH, body: '{"title":"x"}', agent })).status);
      statuses.push((await gateway.send({ path: PATH, token: gateway.bearer, agent })).status);
    }
    agent.destroy();
    expect(statuses).toEqual([413, 401, 200, 413, 401, 200, 413, 401, 200]);
  });

  test('a refusal of the gateway does not wait for the body', async () => {
    const gateway = await open();
    for (const [path, status] of [
      ['/api/v1/nowhere', 404],
      [`${PATH}/5`, 405],
      [PATH, 403],
    ] as const) {
      const reader = await gateway.token({ scopes: ['incidents:read'] });
      const received = await sendBytes(
        gateway.app.url,
        post({ ...gateway, bearer: reader }, 'Content-Length: 1000').replace(PATH, path) + '{"title":',
      );
      expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    }
  });

  test('a body over the limit is reported after an invalid header, as the order of the checks says', async () => {
    const gateway = await open();
    const chunk = `${(MAX_BODY_BYTES + 1).toString(16)}\r\n${'x'.repeat(MAX_BODY_BYTES + 1)}\r\n0\r\n\r\n`;
    const received = await sendBytes(
      gateway.app.url,
      post(gateway, 'Idempotency-Key: has space', 'Transfer-Encoding: chunked') + chunk,
      2_000,
    );
    expect(received).toContain('invalid_idempotency_key');
  });

  test('the service gets a body with its exact length, however it was sent', async () => {
    const lengths: unknown[] = [];
    const receive = async (request: IncomingMessage, response: ServerResponse) => {
      const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
      let received = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) received += chunk.length;
      lengths.push([request.method, length, encoding, received]);
      ok(response);
    };
    const { gateway } = await openWithService((request, response) => void receive(request, response));
    const { bearer: token } = gateway;
    await gateway.send({ method: 'POST', path: PATH, body: '{"title":"x"}', token });
    await gateway.send({ ...inChunks, chunkSize: 5, body: '{"title":"x"}', token });
    await gateway.send({ method: 'POST', path: PATH, token });
    await gateway.send({ method: 'POST', path: PATH, token, headers: { 'Transfer-Encoding': 'chunked' } });
    await gateway.send({ path: PATH, token });
    await gateway.send({ path: PATH, token, body: 'ignored' });
    expect(lengths).toEqual([
      ['POST', '13', undefined, 13],
      ['POST', '13', undefined, 13],
      ['POST', '0', undefined, 0],
      ['POST', '0', undefined, 0],
      ['GET', undefined, undefined, 0],
      ['GET', undefined, undefined, 0],
    ]);
  });

  test('errors of the service about the body are passed on', async () => {
    const gateway = await open();
    const send = async (body: string, type = 'application/json') =>
      (
        await gateway.send({
          method: 'POST',
          path: PATH,
          body,
          token: gateway.bearer,
          headers: { 'Content-Type': type },
        })
      ).body.code;
    expect(await send('{}{}')).toBe('multiple_json_values');
    expect(await send('{"title":')).toBe('invalid_json');
    expect(await send('{"title":"x"}', 'text/plain')).toBe('unsupported_media_type');
    expect(await send('{"title":"x","more":1}')).toBe('unknown_field');
  });
});

test('without its database the gateway is healthy, not ready, and responds 503', async () => {
  const none = async () => undefined;
  const database = { url: () => 'postgres://nobody@127.0.0.1:9/none', adminUrl: '', clear: none, drop: none };
  const gateway = opened(await startGatewayHarness({ database }));
  const response = await gateway.send({ path: PATH });
  expect([response.status, response.body.code]).toEqual([503, 'service_unavailable']);
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  expect((await gateway.send({ path: '/healthz' })).status).toBe(200);
  const ready = await gateway.send({ path: '/readyz' });
  expect([ready.status, ready.body]).toEqual([503, { status: 'unready' }]);
  expect(await gateway.dependencies()).toMatchObject({ database: 'down' });
});

test('responses are streamed, not buffered', async () => {
  const sendRest = Promise.withResolvers<void>();
  const { gateway } = await openWithService((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 4 });
    response.write('[1');
    void sendRest.promise.then(() => response.end(',]'));
  });
  const socket = openConnection(
    gateway.app.url,
    `GET ${PATH} HTTP/1.1\r\nHost: acme.localhost\r\nAuthorization: Bearer ${gateway.bearer}\r\n\r\n`,
  );
  // The service sends the rest only then.
  await eventually(() => socket.received.endsWith('[1'));
  expect(socket.received).toMatch(/^HTTP\/1\.1 200 /);
  sendRest.resolve();
  await eventually(() => socket.received.endsWith('[1,]'));
  socket.destroy();
});

test('stopping finishes requests in flight and accepts no new ones', async () => {
  const waiting: (() => void)[] = [];
  const { gateway } = await openWithService((_request, response) => void waiting.push(() => ok(response)));
  const inFlight = gateway.send({ path: PATH, token: gateway.bearer });
  await eventually(() => waiting.length === 1);
  const stopped = gateway.app.stop();
  await expect(gateway.send({ path: '/healthz' })).rejects.toThrow('ECONNREFUSED');
  waiting[0]?.();
  const response = await inFlight;
  expect([response.status, response.body.route]).toEqual([200, 'ok']);
  await stopped;
});
