import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import { MemoryBroker, outbox, startRelay, type Disposition } from '@tocsin/messaging';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { createLogger, createMetrics, type PeriodicTask } from '@tocsin/runtime';
import { createTestDatabase, eventually, type TestDatabase } from '@tocsin/testing';
import { schema as gateway } from '../../../gateway/src/schema.ts';
import { runAdmin } from '../run-admin.ts';
import { APPS, MEMORY_BROKER } from '../../installation/apps.ts';
import { adminCommand } from '../../verification/systems/admin-command.ts';

const queue = QUEUES.incidentReplicas;
const log = createLogger({ app: 'test', level: 'silent' });
let database: TestDatabase;
let publisher: Knex;
let relay: PeriodicTask;
let disposition: Disposition = 'retry';
const handled: string[] = [];
const broker = new MemoryBroker({ retryDelays: [1] });

beforeAll(async () => {
  database = await createTestDatabase(
    ...Object.values(APPS).map(({ schema: { name, migrations } }) => ({ schema: name, migrations })),
  );
  publisher = openDatabase({
    url: database.url(gateway.name),
    schema: gateway.name,
    application: 'test',
    poolSize: 2,
  });
  broker.subscribe(queue, async ({ body }) => {
    handled.push((JSON.parse(body.toString()) as { data: { user: { name: string } } }).data.user.name);
    return disposition;
  });
  broker.subscribe(QUEUES.catalogReplicas, async () => 'ack');
  relay = startRelay({ database: publisher, broker, log, metrics: createMetrics('test') });
});
afterAll(async () => {
  await relay.stop();
  await broker.close();
  await publisher.destroy();
  await database.drop();
});

const run = async (...args: string[]) =>
  adminCommand({
    DATABASE_URL: database.adminUrl,
    TOCSIN_BROKER: MEMORY_BROKER,
    TOCSIN_DATA_DIR: '/nowhere',
  })('dead-letters', ...args);
const waiting = async () => (await run('list')).dead_letters[queue.name] as number;

const userChanged = (name: string) =>
  ({
    type: 'user.changed',
    occurredAt: '2026-11-20T12:00:00.000Z',
    workspace: { id: 1, slug: 'acme', is_demo: false },
    requestId: null,
    data: { version: 1, user: { id: 1, email: 'a@acme.example', name, active: true, seat: 'none', role: 'member' } },
  }) as const;

test('dead letters of an instance without RabbitMQ can be listed, shown, replayed and discarded', async () => {
  expect((await run('list')).dead_letters).toEqual(
    Object.fromEntries(Object.values(QUEUES).map(({ name }) => [name, 0])),
  );
  const names = ['one', 'two', 'three'];
  await publisher.transaction(async (trx) => outbox(trx).add(...names.map(userChanged)));
  relay.wake();
  await eventually(async () => (await waiting()) === 3, { what: 'three dead letters' });

  const shown = await run('show', '--queue', queue.name, '--most', '2');
  expect(shown.dead_letters).toHaveLength(2);
  expect(shown.dead_letters[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: 'user.changed',
    reason: 'delivery_limit',
    died_at: expect.stringMatching(/Z$/),
    body: expect.stringContaining('a@acme.example'),
  });
  expect(await waiting()).toBe(3);

  disposition = 'ack';
  handled.length = 0;
  expect(await run('replay', '--queue', queue.name, '--most', '2')).toEqual({ replayed: 2 });
  // The process of the command cannot wake it.
  relay.wake();
  await eventually(() => handled.length === 2, { what: 'two events at their consumer' });
  expect(new Set(handled).size).toBe(2);
  expect(await waiting()).toBe(1);

  expect(await run('discard', '--queue', queue.name, '--most', '9')).toEqual({ discarded: 1 });
  expect(await waiting()).toBe(0);
  expect(handled).toHaveLength(2);
});

test('the databases have no default, and are printed', async () => {
  const list = async (env: Record<string, string>) => {
    const lines: string[] = [];
    const settings = { TOCSIN_BROKER: MEMORY_BROKER, TOCSIN_DATA_DIR: '/nowhere', ...env };
    const { error } = await runAdmin(['dead-letters', 'list'], settings, (line) => lines.push(line));
    return { error, lines };
  };
  expect(await list({})).toEqual({
    error: 'the database of the gateway service is not named: set GATEWAY_DATABASE_URL or DATABASE_URL',
    lines: [],
  });
  const { error, lines } = await list({ DATABASE_URL: database.adminUrl });
  expect(error).toBeUndefined();
  expect(lines).toEqual([
    expect.stringMatching(/^using database \S+ on 127\.0\.0\.1:\d+, named by the settings; TOCSIN_BROKER is set/),
  ]);
});
