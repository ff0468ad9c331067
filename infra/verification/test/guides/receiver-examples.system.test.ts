import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Client, createCertificate, eventually, reservePorts } from '@tocsin/testing';
import { describeWithServers, describeWithServersAnd } from '@tocsin/testing/suites';
import { Webhook } from 'standardwebhooks';
import { ROOT } from '../../../installation/environment.ts';
import { startSystem, type System } from '../../systems/system.ts';

const EXAMPLES = path.join(ROOT, 'docs/guides/examples');
const PYTHON = 'python3';

describeWithServers('the TypeScript receiver', () => testReceiver(process.execPath, 'receiver.ts'));
describeWithServersAnd(PYTHON)('the Python receiver', () => testReceiver(PYTHON, 'receiver.py'));

/** Tests an example as a process: Tocsin delivers to it over TLS, and so does an attacker. */
function testReceiver(program: string, script: string): void {
  let system: System;
  let client: Client;
  let folder: string;
  let port: number;
  let ca: string;
  let webhook: { id: string };
  let secret: string;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tocsin-receiver-'));
    const certificate = await createCertificate(['localhost', '127.0.0.1']);
    ca = certificate.cert;
    await writeFile(path.join(folder, 'receiver.pem'), certificate.cert);
    await writeFile(path.join(folder, 'receiver.key'), certificate.key);
    [port = 0] = await reservePorts(1);
    system = await startSystem({ receivers: [{ ca, hostAndPort: () => `127.0.0.1:${port}` }] });
    client = await system.as();
    const created = await client.post('/api/v1/settings/webhooks', { url: `https://127.0.0.1:${port}/tocsin` });
    ({ webhook, secret } = created.body);
    receiver = await startReceiver(secret);
  });
  afterAll(async () => {
    await receiver?.stop();
    await system?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function startReceiver(withSecret: string) {
    const child = spawn(program, [path.join(EXAMPLES, script)], {
      cwd: folder,
      env: {
        ...process.env,
        WEBHOOK_SECRET: withSecret,
        PORT: String(port),
        TLS_CERT: 'receiver.pem',
        TLS_KEY: 'receiver.key',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)));
    const closed = once(child, 'close');
    await eventually(() => {
      if (child.exitCode !== null) throw new Error(output);
      return output.includes(`listening on port ${port}`);
    });
    return {
      handled: () => output.split('\n').filter((line) => line.startsWith('incident ')),
      stop: async () => {
        child.kill('SIGKILL');
        await closed;
      },
    };
  }

  async function declare(title: string): Promise<string> {
    const { status, body } = await client.post('/api/v1/incidents', { title });
    expect(status).toBe(201);
    return `incident ${body.incident.human_id}`;
  }

  /** Sends a request that is not from Tocsin; returns the status. */
  async function post(body: string, headers: Record<string, string>): Promise<number> {
    const request = https.request({
      host: '127.0.0.1',
      port,
      ca,
      method: 'POST',
      path: '/tocsin',
      headers: { 'Content-Length': Buffer.byteLength(body), ...headers },
      agent: false,
    });
    // A receiver may reject a body without reading all of it.
    const answered = new Promise<number>((resolve, reject) => {
      request.once('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.once('error', reject);
    });
    request.end(body);
    return answered;
  }

  function signed(event: { id: string }, options: { with?: string; at?: Date } = {}) {
    const at = options.at ?? new Date();
    const body = JSON.stringify(event);
    return {
      body,
      headers: {
        'webhook-id': event.id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(options.with ?? secret, { format: 'raw' }).sign(event.id, at, body),
      },
    };
  }

  const eventOf = (reference: string) => ({ id: randomUUID(), type: 'incident.created', resource: { reference } });

  test('is verified, and handles a new incident', async () => {
    const verified = await client.post(`/api/v1/settings/webhooks/${webhook.id}/verify`);
    expect(verified).toMatchObject({ status: 200, body: { webhook: { status: 'active' } } });
    const line = await declare('Zahlung fällt aus 🔥');
    await eventually(() => receiver.handled().includes(line));
  });

  test('handles an event once, also when it is delivered repeatedly', async () => {
    const [first, last] = [eventOf('INC-900'), eventOf('INC-901')].map((event) => signed(event));
    for (const { body, headers } of [first!, first!, last!]) expect(await post(body, headers)).toBe(204);
    await eventually(() => receiver.handled().includes('incident INC-901'));
    expect(receiver.handled().filter((line) => line === 'incident INC-900')).toHaveLength(1);
  });

  test('rejects unsigned, old, altered and oversized requests', async () => {
    const event = eventOf('INC-910');
    const good = signed(event);
    const minutes = (count: number) => new Date(Date.now() + count * 60_000);
    const other = signed(event, { with: 'whsec_another' });
    const old = signed(event, { at: minutes(-6) });
    const early = signed(event, { at: minutes(6) });
    expect(await post(good.body, {})).toBe(400);
    expect(await post(`${good.body} `, good.headers)).toBe(400);
    for (const { body, headers } of [other, old, early]) expect(await post(body, headers)).toBe(400);
    expect(await post(good.body, { ...good.headers, 'webhook-id': randomUUID() })).toBe(400);
    // A receiver that closes the connection while the body is being sent may break it before its response is read.
    expect(await eventually(async () => post('x'.repeat(1_048_577), good.headers))).toBe(413);
    // A wrongly stored event would be handled before this one.
    const later = signed(eventOf('INC-911'));
    expect(await post(later.body, later.headers)).toBe(204);
    await eventually(() => receiver.handled().includes('incident INC-911'));
    expect(receiver.handled()).not.toContain('incident INC-910');
  });

  test('remembers handled events over a restart', async () => {
    const count = receiver.handled().length;
    expect(count).toBeGreaterThan(0);
    const database = new DatabaseSync(path.join(folder, 'events.sqlite'), { readOnly: true, timeout: 5_000 });
    const waiting = database.prepare('select id from events where handled = 0');
    await eventually(() => waiting.all().length === 0);
    database.close();
    await receiver.stop();
    receiver = await startReceiver(secret);
    const line = await declare('After the restart');
    await eventually(() => receiver.handled().includes(line));
    expect(receiver.handled()).toEqual([line]);
  });

  test('accepts deliveries with the old secret and with the new one while both sign', async () => {
    const rotated = await client.post(`/api/v1/settings/webhooks/${webhook.id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    const before = await declare('With the old secret');
    await eventually(() => receiver.handled().includes(before));
    await receiver.stop();
    receiver = await startReceiver(rotated.body.secret);
    const after = await declare('With the new secret');
    await eventually(() => receiver.handled().includes(after));
  });
}
