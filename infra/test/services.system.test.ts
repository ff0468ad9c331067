import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually, httpClient, removeTopology, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import pg from 'pg';
import { APP_NAMES, APPS, type AppName } from '../apps.ts';
import { findInstance } from '../data-dir.ts';
import { freePorts } from '../ports.ts';
import { processesWith, runCommand, type RunningCommand } from '../testing/commands.ts';

describeWithServers('five apps as processes of their own', () => {
  const namespace = `t${randomBytes(5).toString('hex')}`;
  const started: RunningCommand[] = [];
  let folder: string;
  let port: number;
  let command: RunningCommand;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tocsin-services-'));
    [port = 0] = await freePorts(1);
  });
  afterAll(async () => {
    for (const { signal } of started) signal('SIGKILL');
    await eventually(async () => (await children()).size === 0);
    await removeTopology(testServers().amqpUrl ?? '', namespace);
    await asAdministrator(`drop database if exists ${databaseName()} with (force)`);
    await rm(folder, { recursive: true, force: true });
  });

  const databaseName = () => `tocsin_test_${testServers().runId}_${namespace}`;

  function start(settings: Record<string, string> = {}): RunningCommand {
    const servers = testServers();
    const database = new URL(servers.databaseUrl);
    database.pathname = `/${databaseName()}`;
    command = runCommand('local/main.ts', {
      PORT: String(port),
      TOCSIN_DATA_DIR: folder,
      TOCSIN_NAMESPACE: namespace,
      DATABASE_URL: database.href,
      AMQP_URL: servers.amqpUrl,
      REDIS_URL: servers.redisUrl,
      ...settings,
    });
    started.push(command);
    return command;
  }

  /** The apps' processes, by name. */
  async function children(): Promise<Map<AppName, number>> {
    const parents = new Set(started.map(({ pid }) => pid));
    const found = new Map<AppName, number>();
    for (const name of APP_NAMES) {
      for (const [pid, { parent }] of await processesWith(`${APPS[name].folder}/src/main.ts`)) {
        if (parents.has(parent) || own.has(pid)) found.set(name, pid);
      }
    }
    for (const pid of found.values()) own.add(pid);
    return found;
  }
  const own = new Set<number>();

  const isReady = async (url: string) => (await httpClient(url).get('/readyz')).status === 200;

  test('are ready together, after the schemas are', async () => {
    expect(await start().ready()).toBe(`http://localhost:${port}`);
    expect([...(await children()).keys()].toSorted()).toEqual(APP_NAMES.toSorted());
    const { body } = await httpClient(`http://127.0.0.1:${port}`).get('/readyz');
    expect(body).toEqual({ status: 'ready', dependencies: { database: 'up', broker: 'up', redis: 'up' } });
  }, 120_000);

  test.each(APP_NAMES)(
    '%s, when it dies, comes back alone and where it was',
    async (name) => {
      const instance = await findInstance(folder);
      const url = name === 'gateway' ? (instance?.baseUrl ?? '') : (instance?.env[APPS[name].address] ?? '');
      const before = await children();
      process.kill(before.get(name) ?? 0, 'SIGKILL');
      await eventually(async () => (await children()).get(name) !== before.get(name) && (await isReady(url)), {
        within: 30_000,
        what: `${name} at ${url}`,
      });
      const after = await children();
      for (const other of APP_NAMES) expect(after.get(other) === before.get(other)).toBe(other !== name);
    },
    60_000,
  );

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'end in good order at %s, however often it comes',
    async (signal) => {
      if (signal === 'SIGTERM') await start().ready();
      command.signal(signal);
      command.signal(signal);
      expect(await command.ended()).toBe(0);
      expect(await children()).toEqual(new Map());
      expect(await readdir(folder)).not.toContain('runtime.json');
    },
    120_000,
  );

  test('do not outlive their supervisor', async () => {
    await start().ready();
    expect((await children()).size).toBe(APP_NAMES.length);
    command.signal('SIGKILL');
    await eventually(async () => (await children()).size === 0, { within: 30_000 });
  }, 120_000);

  test('do not start by halves: what is wrong is said in one line', async () => {
    start({ RATE_LIMIT_PER_MINUTE: 'many' });
    expect(await command.ended()).toBe(1);
    expect(command.output()).toMatch(/^gateway did not start: settings: RATE_LIMIT_PER_MINUTE: .*$/m);
    expect(await children()).toEqual(new Map());

    start({ DATABASE_URL: 'postgres://postgres@127.0.0.1:1/tocsin' });
    expect(await command.ended()).toBe(1);
    expect(command.output()).toBe('DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1\n');
  }, 120_000);
});

async function asAdministrator(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: testServers().databaseUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}
