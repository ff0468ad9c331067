import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Client, eventually, reservePorts } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { Webhook } from 'standardwebhooks';
import { startSystem, type System } from '../../verification/systems/system.ts';
import { startTocsin } from './tocsin-command.ts';

const SECRET = 'whsec_3q2A7wEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeI0';

describeWithServers('tocsin listen', () => {
  let system: System;
  let client: Client & { token: string };
  let folder: string;
  let receiver: Server;
  let isAvailable = true;
  const received: { id: string; title: string }[] = [];
  let listener: ChildProcess;
  let output = '';

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tocsin-listen-'));
    // A gateway that starts again has the same port.
    const [port = 0] = await reservePorts(1);
    system = await startSystem({ settings: { DEFAULT_WORKSPACE: 'acme', PORT: String(port) } });
    client = await system.as();
    receiver = createServer((request, response) => {
      void text(request).then((body) => {
        if (!isAvailable) return void response.writeHead(503).end();
        // Checks the signature as receivers of webhooks do.
        const headers = request.headers as Record<string, string>;
        const event = new Webhook(SECRET, { format: 'raw' }).verify(body, headers) as {
          id: string;
          data: { incident: { title: string } };
          resource: object;
        };
        expect(event).toMatchObject({ id: headers['webhook-id'], resource: { type: 'incident' } });
        received.push({ id: event.id, title: event.data.incident.title });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    listener.kill('SIGKILL');
    receiver.close();
    await system.stop();
    await rm(folder, { recursive: true });
  });

  async function startListener(): Promise<void> {
    output = '';
    const { port } = receiver.address() as AddressInfo;
    listener = startTocsin({ TOCSIN_CONFIG_DIR: folder, TOCSIN_URL: system.url, TOCSIN_TOKEN: client.token }, [
      'listen',
      '--forward-to',
      `http://127.0.0.1:${port}/hooks`,
      '--types',
      'incident.created',
      '--secret',
      SECRET,
    ]);
    for (const stream of [listener.stdout, listener.stderr]) stream?.on('data', (bytes) => (output += String(bytes)));
    await eventually(() => output.includes('listening to'), { what: 'the listener' });
  }
  async function killListener(): Promise<void> {
    const closed = once(listener, 'close');
    listener.kill('SIGKILL');
    await closed;
  }
  const titles: string[] = [];
  const create = async (count: number) => {
    for (let number = 0; number < count; number += 1) {
      const title = `Incident ${titles.length}`;
      expect((await client.post('/api/v1/incidents', { title })).status).toBe(201);
      titles.push(title);
    }
  };
  const receives = async () =>
    eventually(() => received.at(-1)?.title === titles.at(-1), {
      what: `${titles.at(-1)} in ${output}`,
    });

  test('sends every event, in order, over restarts of itself, of the gateway, of the feed and of the receiver', async () => {
    await startListener();
    await create(3);
    await receives();

    await killListener();
    await create(3);
    await startListener();
    await create(1);
    await receives();

    await system.stopApp('gateway');
    await system.startApp('gateway');
    await create(3);
    await receives();

    await system.stopApp('webhook');
    await create(3);
    await system.startApp('webhook');
    await create(1);
    await receives();

    isAvailable = false;
    await create(3);
    await eventually(() => output.includes('responded with 503'), { what: 'the refusal' });
    await killListener();
    isAvailable = true;
    await startListener();
    await receives();

    // An event may come again, after those before it.
    const first = received.filter(({ id }, index) => received.findIndex((other) => other.id === id) === index);
    expect(first.map(({ title }) => title)).toEqual(titles);
    expect(received.length).toBeLessThanOrEqual(titles.length + 2);

    const closed = once(listener, 'close');
    listener.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
  });
});
