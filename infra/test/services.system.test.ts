import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Environment } from '@tocsin/runtime';
import { eventually, httpClient } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { APP_NAMES, APPS, type AppName } from '../apps.ts';
import { findInstance } from '../data-dir.ts';
import { processesWith, type RunningCommand } from '../testing/commands.ts';
import { type LocalGround, localGround } from '../testing/local-ground.ts';

describeWithServers('five apps as processes of their own', () => {
  const started: RunningCommand[] = [];
  let ground: LocalGround;
  let command: RunningCommand;

  beforeAll(async () => {
    ground = await localGround();
  });
  afterAll(async () => {
    for (const { signal } of started) signal('SIGKILL');
    await eventually(async () => (await children()).size === 0);
    await ground.remove();
  });

  function start(settings?: Environment): RunningCommand {
    command = ground.start(settings);
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
    expect(await start().ready()).toBe(`http://localhost:${ground.port}`);
    expect([...(await children()).keys()].toSorted()).toEqual(APP_NAMES.toSorted());
    const { body } = await httpClient(`http://127.0.0.1:${ground.port}`).get('/readyz');
    expect(body).toEqual({ status: 'ready', dependencies: { database: 'up', broker: 'up', redis: 'up' } });
  }, 120_000);

  test.each(APP_NAMES)(
    '%s, when it dies, comes back alone and where it was',
    async (name) => {
      const instance = await findInstance(ground.folder);
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
      expect(await readdir(ground.folder)).not.toContain('runtime.json');
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
