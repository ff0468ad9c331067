import { afterEach, expect, test } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TEST_SECRET_KEYS } from '@tocsin/testing';
import { z } from 'zod';
import { type InternalClient, internalClient } from '../src/index.ts';

let server: Server;
let client: InternalClient;
afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function start(listener: RequestListener): Promise<void> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = internalClient({ baseUrl, self: 'incident', service: 'catalog', secretKeys: TEST_SECRET_KEYS });
}

const call = async () => client.get('/x', {}, z.object({ n: z.number() }));

test('a service that refuses the calls for one workspace is still called for the others', async () => {
  let status = 429;
  await start((_request, response) => {
    response.statusCode = status;
    response.end('{"n":1}');
  });
  for (let count = 0; count < 10; count += 1) await expect(call()).rejects.toThrow('/x returned status 429');
  status = 200;
  expect(await call()).toEqual({ n: 1 });
});

test('a service that fails is not called for a while', async () => {
  let calls = 0;
  await start((_request, response) => {
    calls += 1;
    response.statusCode = 500;
    response.end();
  });
  for (let count = 0; count < 10; count += 1) await expect(call()).rejects.toThrow();
  expect(calls).toBeLessThan(10);
});

test('a response without an end is given up when it becomes too large', async () => {
  const closed = Promise.withResolvers<void>();
  await start((_request, response) => {
    response.once('close', () => closed.resolve());
    const more = () => {
      if (!response.destroyed) response.write(Buffer.alloc(4_194_304, 32), more);
    };
    more();
  });
  await expect(call()).rejects.toThrow(/more than 33554432 bytes|aborted due to timeout/);
  await closed.promise;
});

test('a response that never comes, or never ends, is given up', async () => {
  await start((_request, response) => void response.write('{'));
  await expect(call()).rejects.toThrow('aborted due to timeout');
});
