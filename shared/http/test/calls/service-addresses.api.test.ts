import type { LookupAddress } from 'node:dns';
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, TEST_SECRET_KEYS } from '@tocsin/testing';
import { z } from 'zod';
import {
  declareOwnServers,
  type HttpServer,
  internalClient,
  listen,
  type ServiceAddresses,
  serviceAddresses,
} from '../../src/index.ts';
import { probe } from '../../src/calls/probe.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Process extends HttpServer {
  requests: number;
}

/** A process of a service; health checks do not count as requests. */
async function start(options: { host?: string; port?: number; respond?: RequestListener } = {}): Promise<Process> {
  const { host = '127.0.0.1', port = 0, respond = (_request, response) => response.end('{}') } = options;
  const counts = { requests: 0 };
  const server = await listen(
    (request, response) => {
      if (request.url === '/healthz') {
        response.end();
        return;
      }
      counts.requests += 1;
      respond(request, response);
    },
    { host, port },
  );
  closing.push(server.close);
  return Object.defineProperty(server as Process, 'requests', { get: () => counts.requests });
}

function open(options: Parameters<typeof serviceAddresses>[0]): ServiceAddresses {
  const addresses = serviceAddresses(options);
  closing.push(addresses.close);
  return addresses;
}

function clientOf(...urls: string[]) {
  const client = internalClient({
    urls,
    self: 'incident',
    service: 'catalog',
    secretKeys: TEST_SECRET_KEYS,
    timeout: 10_000,
  });
  closing.push(client.close);
  return async () => client.get('/x', {}, z.object({}));
}

const names = ({ all }: ServiceAddresses) => all.map(({ name }) => name.replace(/:\d+/, ''));
const states = ({ all }: ServiceAddresses) => all.map(({ health }) => health.state);

describe('requests to several addresses', () => {
  test('are spread over them', async () => {
    const [first, second] = [await start(), await start()];
    const call = clientOf(first.url, second.url);
    for (let count = 0; count < 10; count += 1) await call();
    expect([first.requests, second.requests]).toEqual([5, 5]);
  });

  test('go to the one with the fewest under way', async () => {
    const addresses = open({ urls: ['http://127.0.0.1:1', 'http://127.0.0.1:2'] });
    const [busy, idle] = addresses.all;
    busy!.underWay = 1;
    for (let count = 0; count < 4; count += 1) expect(addresses.choose()).toBe(idle);
  });

  test('are sent again to another one when the connection breaks, or there is none', async () => {
    const broken = await start({
      respond: (request, response) => {
        // Before the response, and within the next ones.
        if (broken.requests > 1) response.write('{');
        setImmediate(() => request.socket.destroy());
      },
    });
    const whole = await start();
    const call = clientOf(broken.url, whole.url);
    for (let count = 0; count < 6; count += 1) expect(await call()).toEqual({});
    expect([broken.requests > 1, whole.requests]).toEqual([true, 6]);
    await broken.close();
    for (let count = 0; count < 6; count += 1) expect(await call()).toEqual({});
  });

  test('leave one that drains before it closes anything, and one that is down, until it is back', async () => {
    const [first, second] = [await start(), await start()];
    const addresses = open({ urls: [first.url, second.url] });
    first.drain();
    await eventually(() => states(addresses).join() === 'draining,up', { what: 'the drain' });
    for (let count = 0; count < 4; count += 1) expect(addresses.choose()).toBe(addresses.all[1]);
    await first.close();
    await eventually(() => states(addresses).join() === 'down,up', { what: 'the end' });
    second.drain();
    await eventually(() => states(addresses).join() === 'down,draining', { what: 'the other drain' });
    expect(addresses.choose()).toBe(addresses.all[1]);
    await start({ port: first.port });
    await eventually(() => addresses.choose() === addresses.all[0], { what: 'the new process' });
  });
});

describe('silence of the health check', () => {
  const isSilent: RequestListener = (request, response) => {
    if (request.url !== '/healthz') response.end('{}');
  };

  test('of another process means that it is down', async () => {
    const server = createServer(isSilent);
    closing.push(
      () => server.closeAllConnections(),
      async () => once(server.close(), 'close'),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const addresses = open({ urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`] });
    addresses.all[0]?.health.check('doubt');
    await eventually(() => states(addresses).join() === 'down');
  });

  test('of this process, which is busy then, means nothing', async () => {
    const server = await listen(isSilent, { host: '127.0.0.1', port: 0 });
    closing.push(server.close);
    declareOwnServers([server.url]);
    const outcome = probe({ url: new URL(server.url), lookup: undefined });
    expect(await outcome).toEqual({ state: 'up' });
  });
});

describe('a host name', () => {
  const ipv4 = (...found: string[]): LookupAddress[] => found.map((address) => ({ address, family: 4 }));

  test('leads to all of its addresses, also to those that it gets later', async () => {
    const first = await start({ host: '127.0.0.1' });
    const second = await start({ host: '127.0.0.2', port: first.port });
    let found = ipv4('127.0.0.1', '127.0.0.2');
    const url = `http://catalog.test:${first.port}`;
    const addresses = open({ urls: [url], resolve: async () => found });
    await eventually(() => addresses.all.length === 2, { what: 'both addresses' });
    expect(names(addresses)).toEqual(['catalog.test (127.0.0.1)', 'catalog.test (127.0.0.2)']);
    for (const { agent, lookup } of addresses.all) {
      const request = get(new URL('/x', url), { agent, lookup: lookup! });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
    }
    expect([first.requests, second.requests]).toEqual([1, 1]);
    found = ipv4('127.0.0.2', '127.0.0.3');
    // It is looked up again at once while an address is down: nothing listens at the new one.
    await first.close();
    await eventually(() => names(addresses).join() === 'catalog.test (127.0.0.2),catalog.test (127.0.0.3)', {
      what: 'the other addresses',
    });
    found = [];
    await eventually(() => states(addresses).join() === 'up,down', { what: 'the health of the new one' });
    expect(addresses.all).toHaveLength(2);
  });

  test('with one address, or one of each family, is left to the system', async () => {
    const found = [...ipv4('127.0.0.1'), { address: '::1', family: 6 }];
    let lookups = 0;
    const addresses = open({ urls: ['http://localhost:1'], resolve: async () => ((lookups += 1), found) });
    await eventually(() => lookups > 0, { what: 'the look-up' });
    await Promise.resolve();
    expect(names(addresses)).toEqual(['localhost']);
  });
});

test('a server that drains still accepts requests, and closes each connection after its response', async () => {
  const waiting = Promise.withResolvers<() => void>();
  const server = await start({
    respond: (request, response) => {
      if (request.url === '/slow') waiting.resolve(() => void response.end('slow'));
      else response.end('{}');
    },
  });
  const send = async (path: string) => {
    const request = get(new URL(path, server.url), { agent: false, headers: { Connection: 'keep-alive' } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return [response.statusCode, response.headers.connection];
  };
  expect(await send('/x')).toEqual([200, 'keep-alive']);
  const slow = send('/slow');
  const finish = await waiting.promise;
  server.drain();
  finish();
  expect(await slow).toEqual([200, 'close']);
  expect(await send('/x')).toEqual([200, 'close']);
  await server.close();
  await expect(send('/x')).rejects.toThrow('ECONNREFUSED');
});
