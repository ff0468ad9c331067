import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase, eventually, tcpProxy } from '@tocsin/testing';
import pg from 'pg';
import { createLogger } from '@tocsin/runtime';
import { listenForNotifications } from '../src/index.ts';

const CHANNEL = 'tocsin_Test_channel';
let connects = 0;
const payloads: string[] = [];
const database = await createTestDatabase();
const proxy = await tcpProxy(database.adminUrl);
const listener = listenForNotifications({
  url: proxy.url,
  channel: CHANNEL,
  application: 'test-listener',
  log: createLogger({ app: 'test', level: 'silent' }),
  onConnect: () => (connects += 1),
  onNotification: (payload) => payloads.push(payload),
  heartbeatInterval: 100,
});
await eventually(() => connects === 1, { what: 'the first connection' });
afterAll(async () => {
  await proxy.close();
  await database.drop();
});

async function asAdministrator(run: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(database.adminUrl);
  await client.connect();
  await run(client);
  await client.end();
}

const notify = async (payload: string) =>
  asAdministrator(async (client) => client.query('select pg_notify($1, $2)', [CHANNEL, payload]));

const endSessions = async (application: string) =>
  asAdministrator(async (client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [application],
    ),
  );

test('a listener whose server has vanished connects again, says so, and hears the next notification', async () => {
  await notify('one');
  await eventually(() => payloads.length === 1, { what: 'the first notification' });
  proxy.strand();
  await eventually(() => connects === 2, { what: 'another connection' });
  await notify('two');
  await eventually(() => payloads.length === 2, { what: 'the second notification' });
  expect(payloads).toEqual(['one', 'two']);
});

test('a listener whose session the server has ended connects again', async () => {
  await endSessions('test-listener');
  await eventually(() => connects >= 3, { what: 'another connection' });
  await notify('three');
  await eventually(() => payloads.includes('three'), { what: 'the third notification' });
});

test('a connection that has ended leaves nothing behind that waits for the stop', async () => {
  const signals = new Set<AbortSignal>();
  const add = Reflect.get(EventTarget.prototype, 'addEventListener');
  const watched = mock.method(EventTarget.prototype, 'addEventListener', function (this: EventTarget, ...options) {
    if (this instanceof AbortSignal) signals.add(this);
    add.apply(this, options);
  } as typeof add);
  let connected = 0;
  const counted = listenForNotifications({
    url: database.adminUrl,
    channel: CHANNEL,
    application: 'test-counted',
    log: createLogger({ app: 'test', level: 'silent' }),
    onConnect: () => (connected += 1),
    onNotification: () => undefined,
  });
  try {
    for (let count = 1; count <= 4; count += 1) {
      await eventually(() => connected === count, { what: `connection ${count}` });
      if (count < 4) await endSessions('test-counted');
    }
    // Only the heartbeat of the present connection may wait.
    const counts = Array.from(signals, (signal) => getEventListeners(signal, 'abort').length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1);
  } finally {
    watched.mock.restore();
    await counted.stop();
  }
});

test('a listener stops although its server does not respond', async () => {
  const before = connects;
  proxy.stall();
  await listener.stop();
  expect(connects).toBe(before);
});
