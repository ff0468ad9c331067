import { type ChildProcessByStdio, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCertificate, eventually } from '@tocsin/testing';
import { describeWithServersAnd } from '@tocsin/testing/suites';
import { ROOT } from '../environment.ts';
import { freePorts } from '../ports.ts';
import { startSystem, type System } from '../verification/systems/system.ts';

const DOMAIN = 'tocsin.example.com';
const PIPED = ['ignore', 'pipe', 'pipe'] as const satisfies StdioOptions;
const LIMIT = 1_048_576;

type Proxy = ChildProcessByStdio<null, Readable, Readable>;

interface ProxyOptions {
  folder: string;
  port: number;
  gateway: string;
}

/** The example with the ports and the certificate of the test; the rest is unchanged. */
async function configured(example: string, { folder, port, gateway }: ProxyOptions): Promise<string> {
  const shown = await readFile(path.join(ROOT, 'docs/guides/examples', example), 'utf8');
  const changed = shown
    .replaceAll('/etc/tocsin/tls/', `${folder}/`)
    .replace('127.0.0.1:8080', gateway)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace('listen [::]:443 ssl;', '')
    .replace(`*.${DOMAIN}, ${DOMAIN} {`, `https://*.${DOMAIN}:${port}, https://${DOMAIN}:${port} {`)
    .replace('auto_https', 'admin off\n\tdefault_bind 127.0.0.1\n\tauto_https');
  expect(changed).toContain(String(port));
  expect(changed).toContain(gateway);
  return changed;
}

describeWithServersAnd('nginx')('nginx, configured as the guide shows', () =>
  testProxy(async (options) => {
    const { folder } = options;
    await writeFile(path.join(folder, 'tocsin.conf'), await configured('nginx.conf', options));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const main = [
      `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}`,
      'http { access_log off;',
      ...temporary.map((name) => `${name}_temp_path ${folder}/${name};`),
      `include ${folder}/tocsin.conf; }`,
    ].join('\n');
    await writeFile(path.join(folder, 'nginx.conf'), main);
    return spawn('nginx', ['-e', 'stderr', '-c', path.join(folder, 'nginx.conf')], { stdio: PIPED });
  }),
);

describeWithServersAnd('caddy')('Caddy, configured as the guide shows', () =>
  testProxy(async (options) => {
    const file = path.join(options.folder, 'Caddyfile');
    await writeFile(file, await configured('Caddyfile', options));
    return spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
      env: { ...process.env, XDG_DATA_HOME: options.folder, XDG_CONFIG_HOME: options.folder },
      stdio: PIPED,
    });
  }),
);

/** Tests what the guide promises about a proxy in front of the gateway. */
function testProxy(startProxy: (options: ProxyOptions) => Promise<Proxy>): void {
  let folder: string;
  let system: System;
  let proxy: Proxy;
  let port: number;
  let ca: string;
  let token: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tocsin-proxy-'));
    // As root, nginx runs its workers as another user, and they write large bodies to a folder in here.
    await chmod(folder, 0o711);
    const certificate = await createCertificate([DOMAIN, `*.${DOMAIN}`]);
    ca = certificate.cert;
    await writeFile(path.join(folder, 'fullchain.pem'), certificate.cert);
    await writeFile(path.join(folder, 'privkey.pem'), certificate.key);
    system = await startSystem({ settings: { BASE_DOMAIN: DOMAIN, TRUSTED_PROXIES: '127.0.0.1' } });
    ({ token } = await system.as());
    [port = 0] = await freePorts(1);
    proxy = await startProxy({ folder, port, gateway: new URL(system.url).host });
    let output = '';
    for (const stream of [proxy.stdout, proxy.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)));
    await eventually(async () => {
      if (proxy.exitCode !== null) return true;
      return send({ host: DOMAIN, path: '/healthz' }).then(({ status }) => status === 200);
    });
    if (proxy.exitCode !== null) throw new Error(output);
  });
  afterAll(async () => {
    const closed = proxy?.exitCode === null ? once(proxy, 'close') : undefined;
    proxy?.kill('SIGTERM');
    await closed;
    await system?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function send(options: { host?: string; path: string; headers?: Record<string, string>; body?: string }) {
    const { host = `acme.${DOMAIN}`, path: target, headers = {}, body = '' } = options;
    const allHeaders = { Host: host, ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...headers };
    const request = https.request({
      host: '127.0.0.1',
      port,
      servername: host,
      ca,
      method: body === '' ? 'GET' : 'POST',
      path: target,
      headers: body === '' ? allHeaders : { ...allHeaders, 'Content-Type': 'application/json' },
      agent: false,
    });
    const answered = new Promise<{ status: number; headers: Record<string, unknown>; body: string }>(
      (resolve, reject) => {
        request.once('response', (response) => {
          text(response).then(
            (content) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: content }),
            reject,
          );
        });
        request.once('error', reject);
      },
    );
    request.end(body);
    return answered;
  }

  test('forwards all workspaces and the documentation', async () => {
    const created = await send({ path: '/api/v1/incidents', body: '{"title":"Through the proxy"}' });
    expect(created.status).toBe(201);
    expect(JSON.parse(created.body).incident.human_id).toBe('INC-1');
    expect((await send({ host: DOMAIN, path: '/docs' })).status).toBe(200);
    expect((await send({ host: `other.${DOMAIN}`, path: '/api/v1/incidents' })).status).toBe(404);
  });

  test('forwards the requested host, and ignores the X-Forwarded-Host of clients', async () => {
    await system.as({ workspace: 'initech' });
    const headers = { 'X-Forwarded-Host': `initech.${DOMAIN}` };
    expect((await send({ path: '/api/v1/incidents', headers })).status).toBe(200);
  });

  test('identifies clients by address, and ignores their X-Forwarded-For', async () => {
    const remaining = async (claimed: string) => {
      const headers = { Authorization: 'Bearer wrong', 'X-Forwarded-For': claimed };
      return Number((await send({ path: '/api/v1/incidents', headers })).headers['x-ratelimit-remaining']);
    };
    // Repeated, because a new minute may begin between the two.
    await eventually(async () => {
      const first = await remaining('192.0.2.1');
      return (await remaining('192.0.2.2')) === first - 1;
    });
  });

  test('leaves the limit of bodies to Tocsin', async () => {
    const ofLength = (bytes: number) => `{"title":"${'x'.repeat(bytes - '{"title":""}'.length)}"}`;
    const largest = await send({ path: '/api/v1/incidents', body: ofLength(LIMIT) });
    expect(JSON.parse(largest.body)).toMatchObject({ code: 'invalid_request', field: 'title' });
    const over = await send({ path: '/api/v1/incidents', body: ofLength(LIMIT + 1) });
    expect(over.status).toBe(413);
    expect(JSON.parse(over.body)).toMatchObject({ code: 'request_body_too_large' });
  });

  test('accepts the longest query', async () => {
    const regions = Array.from({ length: 100 }, () => `region=${'%E7%81%AB'.repeat(64)}`).join('&');
    expect(regions.length).toBeGreaterThan(57_000);
    expect((await send({ path: `/api/v1/incidents?${regions}` })).status).toBe(200);
  });

  test('passes streams on as they come, and waits for long polls', async () => {
    const host = `acme.${DOMAIN}`;
    const request = https.get({
      host: '127.0.0.1',
      port,
      servername: host,
      ca,
      path: '/api/v1/events',
      headers: { Host: host, Authorization: `Bearer ${token}`, Accept: 'text/event-stream' },
      agent: false,
    });
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [Readable];
    let received = '';
    response.on('data', (bytes: Buffer) => (received += String(bytes)));
    response.on('error', () => undefined);
    await eventually(() => received.includes('id: '), { what: 'the beginning of the stream' });
    const poll = send({ path: '/api/v1/events?wait=20' });
    await send({ path: '/api/v1/incidents', body: '{"title":"Streamed"}' });
    await eventually(() => received.includes('event: incident.created'), { what: 'the event' });
    await send({ path: '/api/v1/incidents', body: '{"title":"Polled"}' });
    expect(JSON.parse((await poll).body).events).not.toEqual([]);
    request.destroy();
  });
}
