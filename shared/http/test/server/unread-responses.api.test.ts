import { afterEach, describe, expect, test } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import { asUser, eventually, httpClient, serve, testApp } from '@tocsin/testing';
import { z } from 'zod';
import {
  type Contracts,
  type HttpServer,
  implement,
  PRINCIPAL_HEADER,
  type UnsentBytes,
  unsentBytes,
} from '../../src/index.ts';

const MEBIBYTE = 1_048_576;
/** More than the system keeps for a connection. */
const MORE_THAN_BUFFERED = 24 * MEBIBYTE;

const query = z.strictObject({ bytes: z.int() });
const shared = { tag: 'Things', scope: 'teams:write', summary: '', query } as const;
const contracts = {
  getText: { ...shared, method: 'get', path: '/texts', reply: { status: 200, body: z.unknown() } },
  makeText: { ...shared, method: 'post', path: '/texts', reply: { status: 201, body: z.unknown() } },
} as const satisfies Contracts;

const textOf = async (bytes: number) => ({ body: { text: 'x'.repeat(bytes) } });

async function start(options: { stallTimeout?: number; unsent?: UnsentBytes } = {}): Promise<HttpServer> {
  const routes = implement(contracts, {
    getText: async ({ query: { bytes } }) => textOf(bytes),
    makeText: async ({ query: { bytes } }) => textOf(bytes),
  });
  const { stallTimeout, unsent = unsentBytes() } = options;
  return serve(testApp({ routes, unsentBytes: unsent }), { stallTimeout });
}

const inWorkspace = (id: number) => asUser('test', { workspace: { id } });
const sockets: Socket[] = [];

/** Requests a text over a connection that is not read until the test reads it. */
function requestWithoutReading({ port }: HttpServer, bytes: number, workspaceId = 1): Socket {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.pause();
  const principal = inWorkspace(workspaceId)[PRINCIPAL_HEADER];
  socket.write(`GET /texts?bytes=${bytes} HTTP/1.1\r\nHost: x\r\n${PRINCIPAL_HEADER}: ${principal}\r\n\r\n`);
  return socket;
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const reaches = async (unsent: UnsentBytes, condition: (total: number) => boolean) =>
  eventually(() => (condition(unsent.total) ? true : undefined), { what: 'the count of unsent bytes' });

describe('a client that does not read its response', () => {
  test('is disconnected', async () => {
    const unsent = unsentBytes();
    const server = await start({ stallTimeout: 300, unsent });
    const socket = requestWithoutReading(server, MORE_THAN_BUFFERED);
    await reaches(unsent, (total) => total > MEBIBYTE);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // Bytes that it sends do not keep the connection.
    const chatter = setInterval(() => socket.write('G'), 50);
    await reaches(unsent, (total) => total === 0);
    clearInterval(chatter);
    socket.resume();
    await closed;
    expect(socket.bytesRead).toBeLessThan(MORE_THAN_BUFFERED);
    await server.close();
  });

  test('is not disconnected while it reads slowly', async () => {
    const server = await start({ stallTimeout: 1_500 });
    const socket = requestWithoutReading(server, MORE_THAN_BUFFERED);
    const received = new Promise<number>((resolve) => {
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (bytes > MORE_THAN_BUFFERED) resolve(bytes);
        socket.pause();
        setTimeout(() => socket.resume(), 5);
      });
      socket.once('close', () => resolve(bytes));
    });
    socket.resume();
    expect(await received).toBeGreaterThan(MORE_THAN_BUFFERED);
    socket.destroy();
    await server.close();
  });

  test('takes its share of unread bytes, and no more', async () => {
    const unsent = unsentBytes({ ofWorkspace: 8 * MEBIBYTE, inAll: 64 * MEBIBYTE });
    const server = await start({ unsent });
    const client = httpClient(server.url, inWorkspace(1));
    // Alone, a response of any size passes.
    const socket = requestWithoutReading(server, MORE_THAN_BUFFERED);
    await reaches(unsent, (total) => total > 8 * MEBIBYTE);
    const refused = await client.get(`/texts?bytes=${MEBIBYTE}`);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', details: { retry_after_seconds: 1 } },
    });
    expect(refused.headers.get('Retry-After')).toBe('1');
    // Small responses, responses of writes, and those of other workspaces are sent.
    expect((await client.get('/texts?bytes=60000')).status).toBe(200);
    expect((await client.post(`/texts?bytes=${MEBIBYTE}`)).body.text).toHaveLength(MEBIBYTE);
    expect((await httpClient(server.url, inWorkspace(2)).get(`/texts?bytes=${MEBIBYTE}`)).status).toBe(200);
    socket.destroy();
    await reaches(unsent, (total) => total === 0);
    expect((await client.get(`/texts?bytes=${MEBIBYTE}`)).body.text).toHaveLength(MEBIBYTE);
    await server.close();
  });

  test('shares the memory of the process with all others', async () => {
    const unsent = unsentBytes({ ofWorkspace: 64 * MEBIBYTE, inAll: 16 * MEBIBYTE });
    const server = await start({ unsent });
    requestWithoutReading(server, MORE_THAN_BUFFERED);
    await reaches(unsent, (total) => total > 16 * MEBIBYTE);
    const other = httpClient(server.url, inWorkspace(2));
    expect((await other.get(`/texts?bytes=${MEBIBYTE}`)).status).toBe(429);
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
});

test('responses that are read are not counted, and HEAD has no body', async () => {
  const unsent = unsentBytes();
  const server = await start({ unsent });
  const client = httpClient(server.url, inWorkspace(1));
  const { text } = await client.get(`/texts?bytes=${5 * MEBIBYTE}`);
  expect(text).toHaveLength(5 * MEBIBYTE + '{"text":""}'.length);
  const head = await fetch(`${server.url}/texts?bytes=${5 * MEBIBYTE}`, {
    method: 'HEAD',
    headers: { [PRINCIPAL_HEADER]: inWorkspace(1)[PRINCIPAL_HEADER] },
  });
  expect(head.headers.get('Content-Length')).toBe(String(text.length));
  await reaches(unsent, (total) => total === 0);
  await server.close();
});
