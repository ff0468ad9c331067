import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, eventually, tcpProxy, type TcpProxy, type TestDatabase } from '@tocsin/testing';
import pg from 'pg';
import { createLogger, listenForNotifications, type NotificationListener } from '../src/index.ts';

const CHANNEL = 'tocsin_Test_channel';
let database: TestDatabase;
let proxy: TcpProxy;
let listener: NotificationListener;
let connects = 0;
const payloads: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await tcpProxy(database.adminUrl);
  listener = listenForNotifications({
    url: proxy.url,
    channel: CHANNEL,
    application: 'test-listener',
    log: createLogger({ app: 'test', level: 'silent' }),
    onConnect: () => (connects += 1),
    onNotification: (payload) => payloads.push(payload),
    heartbeatInterval: 100,
  });
  await eventually(() => connects === 1, { what: 'the first connection' });
});
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
  await asAdministrator(async (client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'test-listener'`,
    ),
  );
  await eventually(() => connects >= 3, { what: 'another connection' });
  await notify('three');
  await eventually(() => payloads.includes('three'), { what: 'the third notification' });
});

test('a listener stops although its server does not respond', async () => {
  const before = connects;
  proxy.stall();
  await listener.stop();
  expect(connects).toBe(before);
});
