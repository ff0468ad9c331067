import { afterEach, describe, expect, test } from '@jest/globals';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type HttpServer, listen, MAX_BODY_BYTES } from '@tocsin/http';
import { eventually } from '@tocsin/testing';
import { type House, type HouseOptions, openHouse, startServer } from './house.ts';
import { type Heard, sayRaw } from './speak.ts';

const PATH = '/api/v1/incidents';
const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function open(options: HouseOptions = {}): Promise<House & { bearer: string }> {
  const house = await openHouse(options);
  opened.push(house);
  return { ...house, bearer: await house.token() };
}

/** The incident service as this test wants it, which counts its requests. */
async function openBefore(
  answer: (request: IncomingMessage, response: ServerResponse, server: Upstream) => void,
  options: HouseOptions = {},
): Promise<{ house: House & { bearer: string }; upstream: Upstream }> {
  const upstream: Upstream = { requests: 0, aborted: 0, healthy: true, server: undefined as never };
  const listener: RequestListener = (request, response) => {
    if (request.url === '/healthz') {
      response.writeHead(upstream.healthy ? 200 : 503).end();
      return;
    }
    upstream.requests += 1;
    response.on('close', () => (upstream.aborted += response.writableFinished ? 0 : 1));
    answer(request, response, upstream);
  };
  upstream.server = await startServer(listener);
  opened.push(upstream.server);
  return { upstream, house: await open({ ...options, incidentUrl: upstream.server.url }) };
}

interface Upstream {
  requests: number;
  /** Requests that the gateway gave up. */
  aborted: number;
  healthy: boolean;
  server: HttpServer;
}

const ok = (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"route":"ok"}');

const unavailableAnswer = (answer: Heard) => {
  expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
  expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.headers).toHaveProperty('x-ratelimit-remaining');
};

describe('a service that does not answer', () => {
  test('down: 503, and back at once when it is there again', async () => {
    const { house, upstream } = await openBefore((_request, response) => ok(response));
    const { port } = upstream.server;
    expect((await house.say({ path: PATH, token: house.bearer })).status).toBe(200);
    await upstream.server.close();
    unavailableAnswer(await house.say({ path: PATH, token: house.bearer }));
    unavailableAnswer(await house.say({ method: 'POST', path: PATH, body: { title: 'x' }, token: house.bearer }));
    for (let count = 0; count < 10; count += 1) unavailableAnswer(await house.say({ path: PATH, token: house.bearer }));
    // The other services are served as before.
    expect((await house.say({ path: '/api/v1/services', token: house.bearer })).status).toBe(200);

    opened.push(await listen((_request, response) => ok(response), { host: '127.0.0.1', port }));
    await eventually(async () => (await house.say({ path: PATH, token: house.bearer })).status === 200);
  });

  test('resets the connection: 503, and a POST reached it once', async () => {
    const { house, upstream } = await openBefore((request) => request.socket.resetAndDestroy());
    unavailableAnswer(await house.say({ method: 'POST', path: PATH, body: { title: 'x' }, token: house.bearer }));
    unavailableAnswer(await house.say({ path: PATH, token: house.bearer }));
    expect(upstream.requests).toBe(2);
  });

  test('resets it in the middle of a body: the client’s own connection stays good', async () => {
    const { house } = await openBefore((request) => request.once('data', () => request.socket.resetAndDestroy()));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const body = 'x'.repeat(MAX_BODY_BYTES);
    for (let count = 0; count < 3; count += 1) {
      unavailableAnswer(await house.say({ method: 'POST', path: PATH, body, token: house.bearer, agent }));
    }
    expect((await house.say({ path: '/api/v1/services', token: house.bearer, agent })).status).toBe(200);
    agent.destroy();
  });

  test('speaks no HTTP: 503', async () => {
    const { house } = await openBefore((request) => request.socket.end('I am no web server\r\n\r\n'));
    unavailableAnswer(await house.say({ path: PATH, token: house.bearer }));
  });

  test('is silent: 503 when the time is up, and it is told to stop', async () => {
    const { house, upstream } = await openBefore(() => undefined, { upstreamTimeout: 100 });
    unavailableAnswer(await house.say({ path: PATH, token: house.bearer }));
    unavailableAnswer(await house.say({ method: 'POST', path: PATH, body: { title: 'x' }, token: house.bearer }));
    await eventually(() => upstream.aborted === 2);
    expect(upstream.requests).toBe(2);
  });

  test('is not asked any more while it is taken for dead, and is again when it says it lives', async () => {
    const { house, upstream } = await openBefore((request, response, { healthy }) => {
      if (healthy) ok(response);
      else request.socket.resetAndDestroy();
    });
    upstream.healthy = false;
    for (let count = 0; count < 12; count += 1) unavailableAnswer(await house.say({ path: PATH, token: house.bearer }));
    expect(upstream.requests).toBe(5);
    upstream.healthy = true;
    await eventually(async () => (await house.say({ path: PATH, token: house.bearer })).status === 200);
  });

  test('cuts its answer short: so is the client’s, and nothing is made up', async () => {
    const { house } = await openBefore((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 });
      response.write('{"half":');
      setImmediate(() => response.destroy());
    });
    await expect(house.say({ path: PATH, token: house.bearer })).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });
});

describe('what is no failure of the service', () => {
  test('its own errors pass through, and do not make it dead', async () => {
    const { house, upstream } = await openBefore((_request, response) => {
      response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '7' });
      response.end('{"code":"service_unavailable","message":"own"}');
    });
    for (let count = 0; count < 20; count += 1) {
      const answer = await house.say({ path: PATH, token: house.bearer });
      expect([answer.status, answer.body.message, answer.headers['retry-after']]).toEqual([503, 'own', '7']);
    }
    expect(upstream.requests).toBe(20);
  });

  test('clients that hang up', async () => {
    const { house, upstream } = await openBefore((request, response) => {
      if (request.method === 'GET') setTimeout(() => ok(response), 60_000).unref();
      else ok(response);
    });
    for (let count = 1; count <= 15; count += 1) {
      const request = http.get(`${house.app.url}${PATH}`, {
        headers: { Host: 'acme.localhost', Authorization: `Bearer ${house.bearer}` },
        agent: false,
      });
      request.on('error', () => undefined);
      await eventually(() => upstream.requests === count);
      request.destroy();
      await eventually(() => upstream.aborted === count);
    }
    const answer = await house.say({ method: 'POST', path: PATH, body: { title: 'x' }, token: house.bearer });
    expect(answer.status).toBe(200);
  });

  test('clients that hang up in the middle of their body', async () => {
    const { house, upstream } = await openBefore((request, response) => {
      request.resume().on('end', () => ok(response));
    });
    for (let count = 1; count <= 10; count += 1) {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(house.app.url).port) });
      socket.write(
        `POST ${PATH} HTTP/1.1\r\nHost: acme.localhost\r\nAuthorization: Bearer ${house.bearer}\r\nContent-Length: 1000\r\n\r\n{`,
      );
      await eventually(() => upstream.requests === count);
      socket.destroy();
      await eventually(() => upstream.aborted === count);
    }
    const answer = await house.say({ method: 'POST', path: PATH, body: { title: 'x' }, token: house.bearer });
    expect(answer.status).toBe(200);
  });

  test('clients that are slow to send', async () => {
    const { house } = await openBefore((request, response) => void request.resume().on('end', () => ok(response)), {
      upstreamTimeout: 50,
    });
    const request = http.request(`${house.app.url}${PATH}`, {
      method: 'POST',
      headers: { Host: 'acme.localhost', Authorization: `Bearer ${house.bearer}`, 'Content-Length': 10 },
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
  const post = (house: House & { bearer: string }, ...headers: string[]) =>
    [
      `POST ${PATH} HTTP/1.1`,
      'Host: acme.localhost',
      `Authorization: Bearer ${house.bearer}`,
      'Content-Type: application/json',
      ...headers,
      '',
      '',
    ].join('\r\n');

  test('of exactly the limit go through, with their length or in chunks', async () => {
    const house = await open();
    const body = JSON.stringify({ title: 'x'.repeat(MAX_BODY_BYTES - 12) });
    expect(body.length).toBe(MAX_BODY_BYTES);
    expect((await house.say({ method: 'POST', path: PATH, body, token: house.bearer })).status).toBe(201);
    expect((await sendChunks(house, body, { pieces: 16 })).status).toBe(201);
  });

  test('one byte over the limit are refused: announced by the gateway, in chunks by the service', async () => {
    const house = await open();
    const body = JSON.stringify({ title: 'x'.repeat(MAX_BODY_BYTES - 11) });
    const announced = await house.say({ method: 'POST', path: PATH, body, token: house.bearer });
    expect([announced.status, announced.body.code]).toEqual([413, 'request_body_too_large']);
    expect(announced.headers).not.toHaveProperty('x-ratelimit-limit');
    const chunked = await sendChunks(house, body, { pieces: 16 });
    expect([chunked.status, chunked.body.code]).toEqual([413, 'request_body_too_large']);
    expect(chunked.headers).toHaveProperty('x-ratelimit-limit');
  });

  test.each([
    ['in chunks', 'Transfer-Encoding: chunked'],
    ['in chunks, and then nothing more', 'Transfer-Encoding: chunked\r\nConnection: close'],
    ['announced', `Content-Length: ${8 * MAX_BODY_BYTES}`],
    ['announced, and then nothing more', `Content-Length: ${8 * MAX_BODY_BYTES}\r\nConnection: close`],
  ])(
    'far over the limit, %s: a client that sends everything before it reads still gets its 413',
    async (_what, header) => {
      const house = await open();
      const piece = 'x'.repeat(65_536);
      for (let count = 0; count < 10; count += 1) {
        const socket = connect({ host: '127.0.0.1', port: Number(new URL(house.app.url).port) });
        const failed = new Promise<never>((_resolve, reject) => socket.on('error', reject));
        const send = async (text: string) => {
          if (!socket.write(text))
            await Promise.race([failed, new Promise((resolve) => socket.once('drain', resolve))]);
        };
        await send(post(house, header));
        for (let sent = 0; sent < 8 * MAX_BODY_BYTES; sent += piece.length) {
          await send(header.startsWith('Transfer') ? `10000\r\n${piece}\r\n` : piece);
        }
        if (header.startsWith('Transfer')) await send('0\r\n\r\n');
        let heard = '';
        socket.on('data', (chunk) => (heard += chunk.toString()));
        await Promise.race([failed, eventually(() => heard.includes('request_body_too_large'))]);
        expect(heard).toMatch(/^HTTP\/1\.1 413 /);
        socket.destroy();
      }
      expect((await house.say({ path: PATH, token: house.bearer })).status).toBe(200);
    },
  );

  test('an endless one takes no memory, no service and no answer from the next', async () => {
    const house = await open();
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(house.app.url).port) });
    let heard = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => (heard += chunk.toString()));
    socket.write(post(house, 'Transfer-Encoding: chunked'));
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const before = process.memoryUsage().rss;
    let sent = 0;
    while (sent < 200) {
      sent += 1;
      if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
    }
    expect(heard).toMatch(/^HTTP\/1\.1 413 /);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_048_576);
    expect((await house.say({ path: PATH, token: house.bearer })).status).toBe(200);
    socket.destroy();
  });

  test('a connection is good for the next request after a refused body', async () => {
    const house = await open();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const big = 'x'.repeat(MAX_BODY_BYTES + 1);
    const statuses = [];
    for (let count = 0; count < 3; count += 1) {
      statuses.push((await house.say({ method: 'POST', path: PATH, body: big, token: house.bearer, agent })).status);
      statuses.push((await house.say({ method: 'POST', path: PATH, body: '{"title":"x"}', agent })).status);
      statuses.push((await house.say({ path: PATH, token: house.bearer, agent })).status);
    }
    agent.destroy();
    expect(statuses).toEqual([413, 401, 200, 413, 401, 200, 413, 401, 200]);
  });

  test('a refusal of the service does not wait for the body', async () => {
    const house = await open();
    const heard = await sayRaw(
      house.app.url,
      post(house, 'Idempotency-Key: has space', 'Content-Length: 1000') + '{"title":',
    );
    expect(heard).toMatch(/^HTTP\/1\.1 400 /);
    expect(heard).toContain('invalid_idempotency_key');
  });

  test('the service’s faults with the body come through', async () => {
    const house = await open();
    const send = async (body: string, type = 'application/json') =>
      (await house.say({ method: 'POST', path: PATH, body, token: house.bearer, headers: { 'Content-Type': type } }))
        .body.code;
    expect(await send('{}{}')).toBe('multiple_json_values');
    expect(await send('{"title":')).toBe('invalid_json');
    expect(await send('{"title":"x"}', 'text/plain')).toBe('unsupported_media_type');
    expect(await send('{"title":"x","more":1}')).toBe('unknown_field');
  });

  /** In chunks, all of them. */
  async function sendChunks(
    house: House & { bearer: string },
    body: string,
    { pieces }: { pieces: number },
  ): Promise<Heard> {
    const { promise, resolve, reject } = Promise.withResolvers<Heard>();
    const request = http.request(`${house.app.url}${PATH}`, {
      method: 'POST',
      agent: false,
      headers: {
        Host: 'acme.localhost',
        Authorization: `Bearer ${house.bearer}`,
        'Content-Type': 'application/json',
        'Transfer-Encoding': 'chunked',
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: JSON.parse(text) }),
      );
    });
    const size = Math.ceil(body.length / pieces);
    for (let at = 0; at < body.length; at += size) {
      if (!request.write(body.slice(at, at + size))) await new Promise((drained) => request.once('drain', drained));
    }
    request.end();
    return promise;
  }
});

test('without its database the gateway is alive, unready, and says 503', async () => {
  const database = { url: () => 'postgres://nobody@127.0.0.1:9/none', adminUrl: '', drop: async () => undefined };
  const house = await openHouse({ database });
  opened.push(house);
  const answer = await house.say({ path: PATH });
  expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect((await house.say({ path: '/healthz' })).status).toBe(200);
  const ready = await house.say({ path: '/readyz' });
  expect([ready.status, ready.body.dependencies.database]).toEqual([503, 'down']);
});

test('answers are streamed, not gathered', async () => {
  const { house } = await openBefore((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 4 });
    response.write('[1');
    setTimeout(() => response.end(',]'), 50);
  });
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(house.app.url).port) });
  let heard = '';
  let atHalf = '';
  socket.on('data', (chunk) => {
    heard += chunk.toString();
    if (heard.endsWith('[1')) atHalf = heard;
  });
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: acme.localhost\r\nAuthorization: Bearer ${house.bearer}\r\n\r\n`);
  await eventually(() => heard.endsWith('[1,]'));
  expect(atHalf).toMatch(/^HTTP\/1\.1 200 /);
  socket.destroy();
});

test('stopping finishes what is under way and takes nothing new', async () => {
  const waiting: (() => void)[] = [];
  const { house } = await openBefore((_request, response) => void waiting.push(() => ok(response)));
  const underWay = house.say({ path: PATH, token: house.bearer });
  await eventually(() => waiting.length === 1);
  const stopped = house.app.stop();
  await expect(house.say({ path: '/healthz' })).rejects.toThrow('ECONNREFUSED');
  waiting[0]?.();
  const answer = await underWay;
  expect([answer.status, answer.body.route]).toEqual([200, 'ok']);
  await stopped;
});
