import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@tocsin/runtime';
import { createTestDatabase, eventually, tcpProxy, type TcpProxy, type TestDatabase } from '@tocsin/testing';
import pg from 'pg';
import { type IdentityChangeListener, listenForIdentityChanges } from '../src/store/identity-changes.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let listener: IdentityChangeListener;
let changes = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await tcpProxy(database.adminUrl);
  listener = listenForIdentityChanges({
    url: proxy.url,
    log: createLogger({ app: 'test', level: 'silent' }),
    onChange: () => (changes += 1),
    heartbeatInterval: 100,
  });
  await eventually(() => changes === 1, { what: 'the first connection' });
});
afterAll(async () => {
  await proxy.close();
  await database.drop();
});

test('a listener whose server has vanished connects again, assumes a change, and hears the next one', async () => {
  proxy.strand();
  await eventually(() => changes === 2, { what: 'another connection' });
  const client = new pg.Client(database.adminUrl);
  await client.connect();
  await client.query('notify tocsin_identity_changed');
  await client.end();
  await eventually(() => changes === 3, { what: 'the notification' });
});

test('a listener stops although its server does not respond', async () => {
  proxy.stall();
  await listener.stop();
  expect(changes).toBe(3);
});
