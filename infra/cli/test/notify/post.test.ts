import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loopbackServer } from '@tocsin/testing';
import { post } from '../../src/notify/post.ts';

const SECRET = 'T0-secret-token';
type Handler = (response: ServerResponse, request: IncomingMessage) => void;

let handle: Handler;
let requests: string[];
let server: Awaited<ReturnType<typeof loopbackServer>>;
beforeEach(async () => {
  requests = [];
  server = await loopbackServer(
    createServer((request, response) => {
      requests.push(request.url ?? '');
      handle(response, request);
    }),
  );
});
afterEach(async () => server.close());

/** Posts once, and ends when it says that it waits. */
async function postOnce(port = server.port): Promise<{ said: string; reason?: string | undefined; error?: string }> {
  const ending = new AbortController();
  const notes: string[] = [];
  const note = (text: string) => {
    notes.push(text);
    ending.abort();
  };
  const url = new URL(`http://127.0.0.1:${port}/services/${SECRET}?key=${SECRET}`);
  const result = await post(url, '{"text":"x"}', { signal: ending.signal, note }).then(
    (reason) => ({ reason }),
    (error: unknown) => ({ error: (error as Error).message }),
  );
  const all = { said: notes.join('\n'), ...result };
  expect(JSON.stringify(all)).not.toContain(SECRET);
  return all;
}
const waitOf = ({ said }: { said: string }) => Number(/trying again in ([\d.]+) s$/.exec(said)?.[1]);
const status =
  (code: number, headers: Record<string, string> = {}): Handler =>
  (response) =>
    void response.writeHead(code, headers).end(`no_service /services/${SECRET}`);

test.each([
  [200, 'ok'],
  [202, ''],
  [204, ''],
])('%d is accepted', async (code, body) => {
  handle = (response) => void response.writeHead(code).end(body);
  expect(await postOnce()).toEqual({ said: '', reason: undefined });
});

test('a body that does not end, or breaks off, changes nothing of a response', async () => {
  handle = (response) => void response.writeHead(200).write('o');
  expect(await postOnce()).toEqual({ said: '', reason: undefined });
  handle = (response) => {
    response.writeHead(200, { 'Content-Length': '1000' }).write('o', () => response.destroy());
  };
  expect(await postOnce()).toEqual({ said: '', reason: undefined });
});

test.each([400, 413, 422])('%d refuses the message', async (code) => {
  handle = status(code);
  expect(await postOnce()).toEqual({ said: '', reason: `the receiver responded with ${code}` });
});

test.each([301, 302, 307, 401, 403, 404, 405, 410])('%d ends it, and no redirect is followed', async (code) => {
  handle = status(code, { Location: '/elsewhere' });
  const { said, error } = await postOnce();
  expect([said, error]).toEqual(['', expect.stringContaining(`the receiver responded with ${code}, so none arrives`)]);
  expect(requests).toHaveLength(1);
});

test.each([
  ['429 with seconds', 429, '30', 31, 32],
  ['429 with decimals', 429, '0.5', 1.5, 2.5],
  ['429 with a date', 429, () => new Date(Date.now() + 600_000).toUTCString(), 590, 602],
  ['429 with a date that is over', 429, 'Fri, 20 Nov 2020 09:30:00 GMT', 1, 2],
  ['429 with more than an hour', 429, '7200', 3_601, 3_602],
  ['429 with a date in more than an hour', 429, 'Fri, 20 Nov 2099 09:30:00 GMT', 3_601, 3_602],
  ['429 with nonsense', 429, '-5 apples', 1, 2],
  ['429', 429, undefined, 1, 2],
  ['503 with seconds', 503, '5', 6, 7],
  ['500', 500, undefined, 1, 2],
  ['408', 408, undefined, 1, 2],
] as const)('%s waits', async (_, code, given, least, most) => {
  const after = typeof given === 'function' ? given() : given;
  handle = status(code, after === undefined ? {} : { 'Retry-After': after });
  const result = await postOnce();
  expect(result.said).toContain(`the receiver responded with ${code}; trying again`);
  expect(waitOf(result)).toBeGreaterThanOrEqual(least);
  expect(waitOf(result)).toBeLessThanOrEqual(most);
});

test('a connection that is refused or cut waits', async () => {
  handle = (response) => void response.destroy();
  expect((await postOnce()).said).toContain('the receiver cannot be reached (UND_ERR_SOCKET); trying again');
  handle = (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\nContent-Le');
    response.socket?.end();
  };
  expect((await postOnce()).said).toContain('the receiver cannot be reached (');
  handle = (response) => void response.socket?.end('nonsense\r\n\r\n');
  expect((await postOnce()).said).toContain('the receiver cannot be reached (');
  const other = await loopbackServer(createServer());
  await other.close();
  expect((await postOnce(other.port)).said).toContain('the receiver cannot be reached (ECONNREFUSED); trying again');
});

test('it is tried again until it is accepted', async () => {
  const codes = [500, 429, 204];
  handle = (response) => void response.writeHead(codes.shift() ?? 0, { 'Retry-After': '0' }).end();
  const notes: string[] = [];
  const options = { signal: new AbortController().signal, note: (text: string) => void notes.push(text) };
  expect(await post(new URL(`http://127.0.0.1:${server.port}`), '{}', options)).toBe(undefined);
  expect([requests.length, notes.length]).toEqual([3, 2]);
});
