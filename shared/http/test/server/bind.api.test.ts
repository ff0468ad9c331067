import { afterEach, expect, test } from '@jest/globals';
import { request } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { loopbackServer } from '@tocsin/testing';
import { type HttpServer, listen } from '../../src/index.ts';

const opened: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const LOOPBACK = ['127.0.0.1', ...(hasIPv6 ? ['::1'] : [])];

const start = async (host: string): Promise<HttpServer> => {
  const server = await listen((_request, response) => void response.end('here'), { host, port: 0 });
  opened.push(server);
  return server;
};

/** The status of a request to an address, or the error's code. */
async function answerAt(host: string, port: number): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  request({ host, port, agent: false }, (response) => resolve(response.resume().statusCode ?? 0))
    .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
    .end();
  return promise;
}

test('localhost is every loopback address of this machine, on one port', async () => {
  const { port, url } = await start('localhost');
  expect(url).toBe(`http://127.0.0.1:${port}`);
  for (const host of LOOPBACK) expect(await answerAt(host, port)).toBe(200);
});

test('a closed server is closed on every address', async () => {
  const { port, close } = await start('localhost');
  await close();
  for (const host of LOOPBACK) expect(await answerAt(host, port)).toBe('ECONNREFUSED');
});

test('an address is only itself', async () => {
  const { port } = await start('127.0.0.1');
  expect(await answerAt('127.0.0.1', port)).toBe(200);
  if (hasIPv6) expect(await answerAt('::1', port)).toBe('ECONNREFUSED');
});

test('a port that is taken on one of the addresses is taken', async () => {
  for (const host of LOOPBACK) {
    const { port, close } = await loopbackServer(createSocketServer(), { host });
    const listening = listen(() => undefined, { host: 'localhost', port });
    await expect(listening).rejects.toMatchObject({ code: 'EADDRINUSE', port });
    // What it had opened on the other address is closed.
    for (const address of LOOPBACK) {
      if (address !== host) expect(await answerAt(address, port)).toBe('ECONNREFUSED');
    }
    await close();
  }
});

test('an address that does not exist is an error if it is the only one', async () => {
  await expect(listen(() => undefined, { host: '192.0.2.1', port: 0 })).rejects.toMatchObject({
    code: 'EADDRNOTAVAIL',
  });
});
