import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, TEST_SECRET_KEYS } from '@tocsin/testing';
import { z } from 'zod';
import { type InternalClient, internalClient, NoResponse, UnexpectedStatus } from '../../src/index.ts';

let server: Server | undefined;
let client: InternalClient | undefined;
let port = 0;
afterEach(async () => {
  client?.close();
  client = undefined;
  await stop();
  port = 0;
});

/** Paths of the requests, in their order. */
let paths: string[] = [];

async function start(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
  paths = [];
  server = createServer((request, response) => {
    paths.push(new URL(request.url ?? '/', 'http://localhost').pathname);
    respond(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as { port: number });
  client ??= internalClient({
    urls: [`http://127.0.0.1:${port}`],
    self: 'incident',
    service: 'catalog',
    secretKeys: TEST_SECRET_KEYS,
  });
}

async function stop(): Promise<void> {
  server?.closeAllConnections();
  if (server?.listening === true) await new Promise((done) => server?.close(done));
}

const ok = (_request: IncomingMessage, response: ServerResponse) => void response.end('{}');
const call = async (path = '/x') => client?.get(path, { a: undefined }, z.object({}));
/** Whether calls fail without an attempt. */
const isOpen = async () =>
  call().then(
    () => false,
    (error: unknown) => error instanceof NoResponse && error.reason === 'service_down' && error.cause === undefined,
  );

describe('calls of a service', () => {
  test('that does not listen fail at once after the first, until it listens again', async () => {
    await start(ok);
    await stop();
    await expect(call()).rejects.toThrow('The catalog service does not respond');
    await eventually(isOpen, { what: 'the failed health check' });
    await start(ok);
    await eventually(async () => !(await isOpen()), { what: 'the end of the outage' });
  });

  test('that hangs fail at once as soon as its health has been asked for in vain', async () => {
    await start(() => undefined);
    await expect(call()).rejects.toThrow('The catalog service did not respond within 0.8 seconds');
    await eventually(isOpen, { what: 'the failed health check' });
    expect(paths).toContain('/healthz');
  });

  test('that are slow or get an error status do not keep others from being made', async () => {
    await start((request, response) => {
      if (request.url === '/slow') return;
      response.statusCode = request.url === '/broken' ? 503 : 200;
      response.end('{}');
    });
    for (let round = 0; round < 3; round += 1) {
      const slow = Promise.allSettled(Array.from({ length: 4 }, async () => call('/slow')));
      for (let time = 0; time < 4; time += 1) await expect(call('/broken')).rejects.toThrow(UnexpectedStatus);
      expect((await slow).every(({ status }) => status === 'rejected')).toBe(true);
      expect(await call()).toEqual({});
    }
  });

  test('whose response has no end are given up when it becomes too large', async () => {
    const closed = Promise.withResolvers<void>();
    await start((_request, response) => {
      response.once('close', () => closed.resolve());
      const more = () => {
        if (!response.destroyed) response.write(Buffer.alloc(4_194_304, 32), more);
      };
      more();
    });
    await expect(call()).rejects.toThrow(/more than 33554432 bytes|did not respond within/);
    await closed.promise;
  });

  test('whose response never ends are given up', async () => {
    await start((_request, response) => void response.write('{'));
    await expect(call()).rejects.toThrow('did not respond within 0.8 seconds');
  });
});
