import { expect, test } from '@jest/globals';
import { roleOf } from '@tocsin/postgres';
import { createLogger } from '@tocsin/runtime';
import {
  eventually,
  httpClient,
  PGBOUNCER,
  type PgBouncer,
  startPgBouncer,
  TEST_SECRET_KEYS,
  testServers,
} from '@tocsin/testing';
import { describeWithServers, describeWithServersAnd } from '@tocsin/testing/suites';
import { runAdmin } from '../../admin/run-admin.ts';
import { APP_NAMES, appEnvironments, APPS } from '../../installation/apps.ts';
import { migrateConfig } from '../../migrate/config.ts';
import { migrateAll } from '../../migrate/migrate-all.ts';
import { sharedRoles } from '../systems/database-urls.ts';
import { runningSystem, running } from '../systems/running.ts';
import { setAsOthers } from './settings-of-others.ts';

describeWithServers('a database with settings of others', () => {
  const system = runningSystem(() => ({ prepare: setAsOthers }));

  test('the doctor names them, and has no complaint', async () => {
    const { output = '', exitCode } = await runAdmin(['doctor', '--json'], {
      ...sharedRoles(system.database.adminUrl),
      DATABASE_POOL_SIZE: '3',
      AMQP_URL: testServers().amqpUrl,
      REDIS_URL: testServers().redisUrl,
      TOCSIN_NAMESPACE: system.namespace,
      TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
      TOCSIN_DATA_DIR: '/nowhere',
    });
    const { checks } = JSON.parse(output) as { checks: { check: string; status: string; message: string }[] };
    expect({ exitCode, problems: checks.filter(({ status }) => status === 'problem') }).toEqual({
      exitCode: 0,
      problems: [],
    });
    const messages = checks.filter(({ check }) => check === 'settings').map(({ message }) => message);
    expect(messages).toContainEqual(
      expect.stringMatching(
        /^server, database or role set DateStyle to German, DMY: the sessions of Tocsin do not use/,
      ),
    );
  });
});

describeWithServersAnd(PGBOUNCER)('PgBouncer in front of the database', () => {
  let pooler: PgBouncer | undefined;
  const start = async (databaseUrl: string, mode: string) =>
    startPgBouncer(databaseUrl, {
      roles: APP_NAMES.map((app) => roleOf('tocsin', APPS[app].schema.name)),
      settings: { pool_mode: mode, default_pool_size: 30, max_client_conn: 500 },
    });
  running(
    async () => ({}),
    async () => pooler?.stop(),
  );
  const system = runningSystem(() => ({
    prepare: async ({ adminUrl }) => {
      pooler = await start(adminUrl, 'session');
      return sharedRoles(pooler.url);
    },
  }));

  test('in session mode serves creates, reads and events', async () => {
    const client = await system.as();
    const { status, body } = await client.post('/api/v1/incidents', { title: 'Pooled' });
    expect(status).toBe(201);
    expect((await client.get(`/api/v1/incidents/${body.incident.id}`)).body.incident.title).toBe('Pooled');
    await eventually(async () => (await client.get('/api/v1/events?from=beginning')).body.events.length > 0);
    for (const app of APP_NAMES) expect((await httpClient(system.internalUrl(app)).get('/readyz')).status).toBe(200);
  });

  test('migrates in session mode', async () => {
    const lines: string[] = [];
    const env = { DATABASE_URL: pooler?.url };
    await migrateAll(migrateConfig(env), (line) => lines.push(line));
    expect(lines.toSorted()).toEqual(APP_NAMES.map((app) => `${APPS[app].schema.name}: up to date`).toSorted());
  });

  test('in transaction mode stops a migration and an app at their start, with one sentence', async () => {
    const shared = await start(system.database.adminUrl, 'transaction');
    try {
      const sentence = /the connection pooler shares sessions among its clients: Tocsin needs its session mode/;
      await expect(migrateAll(migrateConfig({ DATABASE_URL: shared.url }), () => undefined)).rejects.toThrow(sentence);
      const env = { ...(await appEnvironments({ TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS, PORT: '0' })).catalog };
      const log = createLogger({ app: 'test', level: 'silent' });
      const settings = { ...env, ...sharedRoles(shared.url), TOCSIN_NAMESPACE: system.namespace };
      await expect(APPS.catalog.start(settings, { log })).rejects.toThrow(sentence);
    } finally {
      await shared.stop();
    }
  });
});
