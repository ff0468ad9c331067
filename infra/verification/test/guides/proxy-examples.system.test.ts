import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import http2 from 'node:http2';
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from '@jest/globals';
import { createCertificate, eventually, isInstalled, reservePorts } from '@tocsin/testing';
import { describeWithProgram, describeWithServers } from '@tocsin/testing/suites';
import { PROXY_EXAMPLES, type ProxyExample, startProxy } from './proxies.ts';
import { running, runningSystem, temporaryFolder } from '../../systems/running.ts';

const DOMAIN = 'tocsin.example.com';
const HOST = `acme.${DOMAIN}`;
/** The host of a workspace in which nothing happens. */
const QUIET = `initech.${DOMAIN}`;
const INCIDENTS = '/api/v1/incidents';
const EVENTS = '/api/v1/events';
/** The address of clients; the proxies have 127.0.0.1. */
const CLIENT = '127.0.0.2';
const LIMIT = 1_048_576;
const FAR_OVER = 6 * LIMIT;
/** More than a minute of them: there is one every 15 seconds. */
const SIGNS_OF_LIFE = 5;

interface Sent {
  host?: string;
  path: string;
  method?: string;
  /** Default: that of an administrator; undefined is none. */
  token?: string | undefined;
  headers?: Record<string, string>;
  body?: string;
  /** Over HTTP/2: nothing follows the body, not even its end. */
  isPart?: boolean;
}

/** A stream, and what came of it. */
function collect(stream: Readable) {
  const collected = { text: '', isOpen: true };
  stream.on('data', (bytes: Buffer) => (collected.text += String(bytes)));
  stream.on('error', () => undefined).once('close', () => (collected.isOpen = false));
  return collected;
}

const ofLength = (bytes: number) => `{"title":"${'x'.repeat(bytes - '{"title":""}'.length)}"}`;
const pieces = (body: string) => Readable.from(body.match(/[^]{1,65536}/g) ?? []);

describeWithServers('a reverse proxy, configured as the guide shows', () => {
  const folder = temporaryFolder();
  const certificate = running(async () => {
    const { cert, key } = await createCertificate([DOMAIN, `*.${DOMAIN}`]);
    const files = { 'fullchain.pem': cert, 'privkey.pem': key, 'haproxy.pem': `${cert}\n${key}` };
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder.path, name), content);
    // As root, proxies run their workers as other users.
    await chmod(folder.path, 0o711);
    return { cert };
  });
  const system = runningSystem(() => ({ settings: { BASE_DOMAIN: DOMAIN, TRUSTED_PROXIES: '127.0.0.1' } }));
  const client = running(async () => system.as());
  const quiet = running(async () => system.as({ workspace: 'initech' }));
  // All before the first test, so that the minutes of their streams pass together, beside the other tests.
  const proxies = PROXY_EXAMPLES.map((example) => ({
    example,
    proxy: isInstalled(example.program) ? running(async () => start(example)) : undefined,
  }));

  async function start(example: ProxyExample) {
    const [port = 0] = await reservePorts(1);
    const gateway = new URL(system.url).host;
    const proxy = await startProxy(example, { folder: folder.path, port, gateway });
    const connection = (host: string) => ({ servername: host, ca: certificate.cert, localAddress: CLIENT });

    /** Sends a request over HTTP/1.1, on a connection of its own. Resolves with the headers of the response. */
    const open = async (sent: Sent): Promise<IncomingMessage> => {
      const { host = HOST, path: target, method, headers = {}, body } = sent;
      const { token } = { token: client.token, ...sent };
      const request = https.request({
        ...{ ...connection(host), host: '127.0.0.1', port, path: target, agent: false },
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          Host: host,
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
      });
      const answered = once(request, 'response') as Promise<[IncomingMessage]>;
      // The proxy may close the connection before it has the whole body.
      request.on('error', () => undefined);
      if (body === undefined) request.end();
      else pipeline(pieces(body), request).catch(() => undefined);
      const [response] = await answered;
      response.on('error', () => undefined);
      return response;
    };
    const send = async (sent: Sent) => {
      const response = await open(sent);
      return { status: response.statusCode, headers: response.headers, body: await text(response) };
    };

    const sessions: http2.ClientHttp2Session[] = [];
    /** A connection of HTTP/2, whose function sends a request. */
    const connectHttp2 = (host = HOST) => {
      const session = http2.connect(`https://127.0.0.1:${port}`, {
        ...connection(host),
        maxSendHeaderBlockLength: 131_072,
      });
      session.on('error', () => undefined);
      sessions.push(session);
      const openStream = async ({ path: target, headers = {}, body, isPart = false }: Sent) => {
        const stream = session.request(
          {
            ...{ ':authority': host, ':path': target, ':method': body === undefined ? 'GET' : 'POST' },
            Authorization: `Bearer ${client.token}`,
            ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
            ...headers,
          },
          { endStream: body === undefined },
        );
        const answered = once(stream, 'response') as Promise<[http2.IncomingHttpHeaders]>;
        stream.on('error', () => undefined);
        if (body !== undefined) pipeline(pieces(body), stream, { end: !isPart }).catch(() => undefined);
        const [{ ':status': status }] = await answered;
        return { status, stream };
      };
      return { open: openStream };
    };

    await eventually(async () => {
      if (proxy.lastOutput() !== undefined) return true;
      return (await send({ host: DOMAIN, path: '/healthz' })).status === 200;
    });
    if (proxy.lastOutput() !== undefined) throw new Error(proxy.lastOutput());
    const quietSent = {
      path: EVENTS,
      headers: { Authorization: `Bearer ${quiet.token}`, Accept: 'text/event-stream' },
    };
    const quietStreams: Readable[] = [
      await open({ host: QUIET, ...quietSent }),
      (await connectHttp2(QUIET).open(quietSent)).stream,
    ];
    return {
      send,
      connectHttp2,
      quiet: quietStreams.map((stream) => collect(stream)),
      stop: async () => {
        // A proxy may wait for its clients.
        for (const resource of [...quietStreams, ...sessions]) resource.destroy();
        await proxy.stop();
      },
    };
  }

  for (const { example, proxy: started } of proxies) {
    describeWithProgram(example.program)(example.name, () => {
      const proxy = started!;

      test('forwards all workspaces and the documentation', async () => {
        const created = await proxy.send({ path: INCIDENTS, body: '{"title":"Through the proxy"}' });
        expect(created.status).toBe(201);
        expect((await proxy.send({ host: DOMAIN, path: '/docs' })).status).toBe(200);
        expect((await proxy.send({ host: `other.${DOMAIN}`, path: INCIDENTS })).status).toBe(404);
        // As it came: the key is `a/b%`.
        const encoded = await proxy.send({ path: '/api/v1/idempotency-keys/a%2Fb%25' });
        expect(JSON.parse(encoded.body)).toMatchObject({ code: 'not_found' });
      });

      test('forwards the requested host, and ignores the X-Forwarded-Host of clients', async () => {
        const headers = { 'X-Forwarded-Host': QUIET };
        expect((await proxy.send({ path: INCIDENTS, headers })).status).toBe(200);
      });

      test('identifies clients by address, and ignores their X-Forwarded-For', async () => {
        const wrong = { Authorization: 'Bearer wrong' };
        const remaining = async (headers: Record<string, string>) =>
          Number(
            (await proxy.send({ path: INCIDENTS, headers: { ...wrong, ...headers } })).headers['x-ratelimit-remaining'],
          );
        const trusted = { ...wrong, 'X-Forwarded-Host': HOST, 'X-Forwarded-For': CLIENT };
        // Repeated, because a new minute may begin between the requests.
        await eventually(async () => {
          const counts = [
            await remaining({ 'X-Forwarded-For': '192.0.2.1' }),
            await remaining({ 'X-Forwarded-For': '192.0.2.2' }),
            await remaining({ Connection: 'close, X-Forwarded-For' }),
            Number(
              (await fetch(new URL(INCIDENTS, system.url), { headers: trusted })).headers.get('x-ratelimit-remaining'),
            ),
          ];
          return counts.every((count, index) => count === counts[0]! - index);
        });
      });

      test('lets the console sign in', async () => {
        const person = ['--workspace', 'acme', '--email', 'person-1@acme.example'];
        const { url } = (await system.admin('login-link', ...person)) as { url: string };
        const signIn = async (origin: string) =>
          proxy.send({
            ...{ method: 'POST', path: '/app/session' },
            headers: { Origin: origin, Authorization: `Bearer ${new URL(url).hash.slice(1)}` },
          });
        expect((await signIn('https://evil.example')).status).toBe(403);
        const { status, headers } = await signIn(`https://${HOST}`);
        expect(status).toBe(204);
        const [cookie = ''] = headers['set-cookie'] ?? [];
        expect(cookie).toMatch(/^__Host-tocsin=.*; Secure$/);
        const [pair = ''] = cookie.split(';');
        const me = await proxy.send({ path: '/api/v1/me', token: undefined, headers: { Cookie: pair } });
        expect(JSON.parse(me.body)).toMatchObject({ user: { email: 'person-1@acme.example' } });
      });

      test('leaves the limit of bodies to Tocsin, which answers before it has the whole', async () => {
        const largest = await proxy.send({ path: INCIDENTS, body: ofLength(LIMIT) });
        expect(JSON.parse(largest.body)).toMatchObject({ code: 'invalid_request', field: 'title' });
        const [over, farOver] = [ofLength(LIMIT + 1), ofLength(FAR_OVER)];
        const withLength = (body: string) => ({ body, headers: { 'Content-Length': String(body.length) } });
        // Caddy may close the connection before a busy client has read the response.
        const refused = async <Result>(attempt: () => Promise<Result>) =>
          example.losesEarlyResponses ? eventually(attempt) : attempt();
        for (const sent of [withLength(over), withLength(farOver), { body: farOver }]) {
          const { status, body } = await refused(async () => proxy.send({ path: INCIDENTS, ...sent }));
          expect([status, JSON.parse(body)]).toEqual([
            413,
            expect.objectContaining({ code: 'request_body_too_large' }),
          ]);
        }
        const { status, stream } = await refused(async () =>
          proxy.connectHttp2().open({ path: INCIDENTS, body: farOver }),
        );
        expect(status).toBe(413);
        if (!example.losesEarlyResponses) expect(await text(stream)).toContain('"request_body_too_large"');
      });

      if (example.sendsWholeBodies !== true) {
        test('sends no request where the rest of a body belongs that its client gave up', async () => {
          const headers = { 'Content-Length': String(FAR_OVER) };
          for (let count = 0; count < 10; count += 1) {
            const connection = proxy.connectHttp2();
            const { status, stream } = await connection.open({ path: INCIDENTS, body: '{', headers, isPart: true });
            expect(status).toBe(413);
            // As curl does: it ends the body after a part of what it announced.
            stream.end();
            await once(stream.resume(), 'close');
            expect((await proxy.connectHttp2().open({ path: INCIDENTS })).status).toBe(200);
          }
        });
      }

      test('accepts the longest query', async () => {
        const regions = Array.from({ length: 100 }, () => `region=${'%E7%81%AB'.repeat(64)}`).join('&');
        expect(regions.length).toBeGreaterThan(57_000);
        const sent = { path: `${INCIDENTS}?${regions}`, headers: { Cookie: `other=${'x'.repeat(7_000)}` } };
        expect((await proxy.send(sent)).status).toBe(200);
        expect((await proxy.connectHttp2().open(sent)).status).toBe(200);
      });

      test('passes streams on as they come, and long polls, many on one connection', async () => {
        const connection = proxy.connectHttp2();
        const headers = { Accept: 'text/event-stream' };
        const opened = await Promise.all(
          Array.from({ length: example.streams ?? 20 }, async () => connection.open({ path: EVENTS, headers })),
        );
        const streams = opened.map(({ stream }) => collect(stream));
        const all = (what: string) => eventually(() => streams.every((each) => each.text.includes(what)), { what });
        await all('id: ');
        const poll = connection.open({ path: `${EVENTS}?wait=20` }).then(async ({ stream }) => text(stream));
        await proxy.send({ path: INCIDENTS, body: '{"title":"Streamed"}' });
        await all('event: incident.created');
        await proxy.send({ path: INCIDENTS, body: '{"title":"Polled"}' });
        expect(JSON.parse(await poll).events).not.toEqual([]);
      });
    });
  }

  describe('after more than a minute', () => {
    for (const { example, proxy } of proxies) {
      describeWithProgram(example.program)(example.name, () =>
        test('has kept streams open in which nothing happens', async () => {
          for (const stream of proxy!.quiet) {
            // Before the signs of life come the time of reconnection and the first position.
            const parts = () => stream.text.split('\n\n').length - 1;
            await eventually(() => !stream.isOpen || parts() >= 2 + SIGNS_OF_LIFE);
            expect(parts()).toBeGreaterThanOrEqual(2 + SIGNS_OF_LIFE);
          }
        }),
      );
    }
  });
});
