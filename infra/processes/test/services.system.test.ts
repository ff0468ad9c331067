import { readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Environment } from '@tocsin/runtime';
import { BUSY_MACHINE, eventually, httpClient, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { APP_NAMES, APPS, type AppName } from '../../installation/apps.ts';
import { findInstance } from '../../installation/data-dir.ts';
import { deriveServiceKeys } from '../../installation/service-keys.ts';
import { processesWith, type RunningCommand } from '../../verification/systems/commands.ts';
import { type LocalHarness, localHarness } from '../../verification/systems/local-harness.ts';

/** Only Linux shows the environment of a process. */
const onLinux = process.platform === 'linux' ? test : test.skip;

describeWithServers('the apps as processes', () => {
  const started: RunningCommand[] = [];
  let harness: LocalHarness;
  let command: RunningCommand;

  beforeAll(async () => {
    harness = await localHarness();
  });
  afterAll(async () => {
    for (const { signal } of started) signal('SIGKILL');
    await eventually(async () => (await children()).size === 0);
    await harness.remove();
  });

  function start(settings?: Environment): RunningCommand {
    command = harness.start({ ...BUSY_MACHINE, ...settings });
    started.push(command);
    return command;
  }

  /** The apps' processes, by name. */
  async function children(): Promise<Map<AppName, number>> {
    const parents = new Set(started.map(({ pid }) => pid));
    const found = new Map<AppName, number>();
    for (const [pid, { parent, command: line }] of await processesWith('src/main.ts')) {
      const name = APP_NAMES.find((app) => line.includes(`${APPS[app].folder}/src/main.ts`));
      if (name !== undefined && (parents.has(parent) || own.has(pid))) found.set(name, pid);
    }
    for (const pid of found.values()) own.add(pid);
    return found;
  }
  const own = new Set<number>();

  const isReady = async (url: string) => (await httpClient(url).get('/readyz')).status === 200;

  test('are ready together, after the migrations; an empty database gets the demo workspace', async () => {
    const others = {
      DEPLOY_TOKEN: 'of-another-program',
      NODE_AUTH_TOKEN: 'of-npm',
      TOCSIN_DEMO: '1',
      METRICS_PORT: '0',
    };
    expect(await start(others).ready()).toBe(`http://localhost:${harness.port}`);
    const output = command.output();
    for (const step of ['migrations', 'services', 'gateway', 'demo data']) {
      expect(output).toMatch(new RegExp(`^${step} +\\d+\\.\\d s$`, 'm'));
    }
    expect(output).toMatch(/^workspace +acme, http:\/\/acme\.localhost:\d+$/m);
    const metrics = await (await fetch(/metrics of all apps: (\S+)/.exec(output)?.[1] ?? '')).text();
    for (const name of APP_NAMES) expect(metrics).toContain(`app="${name}"`);
    const token = /^token +(tcs_\w+)$/m.exec(output)?.[1] ?? '';
    const acme = httpClient(`http://127.0.0.1:${harness.port}`, {
      Host: 'acme.localhost',
      Authorization: `Bearer ${token}`,
    });
    expect((await acme.get('/api/v1/incidents')).body.incidents).toHaveLength(3);
    expect([...(await children()).keys()].toSorted()).toEqual(APP_NAMES.toSorted());
    const instance = await findInstance(harness.folder);
    const client = httpClient(instance?.env['GATEWAY_INTERNAL_URL'] ?? '');
    // An app is ready without the broker, and connects to it in the background.
    const { body } = await eventually(async () => {
      const response = await client.get('/readyz');
      return response.body.dependencies.broker === 'up' && response;
    });
    expect(body).toEqual({ status: 'ready', dependencies: { database: 'up', broker: 'up', redis: 'up' } });
  });

  onLinux('receive only their own secrets', async () => {
    const roots = (await readFile(path.join(harness.folder, 'secret-keys'), 'utf8')).trim();
    for (const [name, pid] of await children()) {
      const text = await readFile(`/proc/${pid}/environ`, 'utf8');
      const env = Object.fromEntries(text.split('\0').map((pair) => pair.split(/=(.*)/s) as [string, string]));
      const databases = Object.keys(env).filter((setting) => setting.endsWith('DATABASE_URL'));
      expect(databases).toEqual([APPS[name].databaseVariable]);
      expect(new URL(env[APPS[name].databaseVariable] ?? '').username).toBe(`tocsin_${name.replace('-', '_')}`);
      expect(env['TOCSIN_SECRET_KEYS']).toBe(deriveServiceKeys(roots, name));
      for (const foreign of [roots.slice(roots.indexOf(':') + 1), 'of-another-program', 'of-npm']) {
        expect(text).not.toContain(foreign);
      }
    }
  });

  test.each(APP_NAMES)('%s is restarted alone, at its address, when it dies', async (name) => {
    const instance = await findInstance(harness.folder);
    const url = name === 'gateway' ? (instance?.baseUrl ?? '') : (instance?.env[APPS[name].addressVariable] ?? '');
    const before = await children();
    process.kill(before.get(name) ?? NaN, 'SIGKILL');
    await eventually(async () => (await children()).get(name) !== before.get(name) && (await isReady(url)), {
      what: `${name} at ${url}`,
    });
    const after = await children();
    for (const other of APP_NAMES) expect(after.get(other) === before.get(other)).toBe(other !== name);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('stop gracefully on %s, also when it is repeated', async (signal) => {
    if (signal === 'SIGTERM') await start({ LOG_FORMAT: 'pretty' }).ready();
    command.signal(signal);
    command.signal(signal);
    expect(await command.ended()).toBe(0);
    expect(await children()).toEqual(new Map());
    expect(await readdir(harness.folder)).not.toContain('runtime.json');
    const line = command
      .output()
      .split('\n')
      .find((each) => each.includes('starting') && each.includes('incident'));
    if (signal === 'SIGTERM') expect(line).toMatch(/^\d\d:\d\d:\d\d {2}info {3}incident {6}starting {2}version=/);
    else expect(JSON.parse(line ?? '')).toMatchObject({ app: 'incident', msg: 'starting' });
  });

  test('stop when their supervisor is killed, and generate no keys when the database holds data encrypted with lost ones', async () => {
    await start().ready();
    expect((await children()).size).toBe(APP_NAMES.length);
    await harness.workspace('sealed');
    await harness.admin('slack', 'connect', '--workspace', 'sealed', '--bot-token', 'xoxb-1');
    command.signal('SIGKILL');
    await eventually(async () => (await children()).size === 0);

    const keys = path.join(harness.folder, 'secret-keys');
    await rename(keys, `${keys}.lost`);
    start();
    expect(await command.ended()).toBe(1);
    expect(command.errors()).toMatch(
      /^\S+secret-keys is missing, and the secrets in database \S+ on \S+ cannot be read without it: restore the file, .*\n$/,
    );
    expect(await readdir(harness.folder)).not.toContain('secret-keys');
    await rename(`${keys}.lost`, keys);
  });

  test('all stop when one does not start, with a one-line error', async () => {
    start({ RATE_LIMIT_PER_MINUTE: 'many' });
    expect(await command.ended()).toBe(1);
    expect(command.errors()).toMatch(/^gateway did not start: settings: RATE_LIMIT_PER_MINUTE: .*$/m);
    expect(await children()).toEqual(new Map());

    start({ DATABASE_URL: 'postgres://postgres@127.0.0.1:1/tocsin' });
    expect(await command.ended()).toBe(1);
    expect(command.errors()).toBe('DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1\n');
  });

  test.each([
    [
      'AMQP_URL',
      'amqp://guest:wrong@127.0.0.1',
      'the broker 127.0.0.1:5672 refuses the user or the password: correct it',
    ],
    [
      'AMQP_URL',
      'amqp://127.0.0.1/none',
      'the broker 127.0.0.1:5672/none refuses the virtual host, or the user there: correct it',
    ],
    ['REDIS_URL', 'redis://nobody:wrong@127.0.0.1', 'Redis refuses the user or the password: correct it (WRONGPASS'],
    ['DATABASE_URL', 'postgres://nobody:wrong@127.0.0.1/x', 'correct the user or the password of the URL'],
  ])(
    'do not start with a wrong user or password of %s, and say so in one line: %s',
    async (variable, wrong, message) => {
      const url = new URL(wrong);
      const servers = testServers();
      const right = { AMQP_URL: servers.amqpUrl, REDIS_URL: servers.redisUrl, DATABASE_URL: servers.databaseUrl };
      url.host = new URL(right[variable as keyof typeof right] ?? '').host;
      start({ [variable]: url.href });
      expect(await command.ended()).toBe(1);
      expect(command.errors()).toContain(
        message.replace('127.0.0.1:5672', url.host.includes(':') ? url.host : `${url.host}:5672`),
      );
      expect(command.errors()).toMatch(new RegExp(`^${variable}: .*\\n$`));
      expect(command.output()).not.toMatch(/^(ready|migrations) /m);
      expect(await children()).toEqual(new Map());
    },
  );
});
