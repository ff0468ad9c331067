import { readFileSync, statSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Client, eventually, httpClient, reservePorts } from '@tocsin/testing';
import { ROOT } from '../../installation/environment.ts';
import { adminCommand } from '../../verification/systems/admin-command.ts';
import { processesWith, runCommand, type RunningCommand } from '../../verification/systems/commands.ts';

let folder: string;
let port: number;
const started: RunningCommand[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-embedded-'));
  await chmod(folder, 0o711);
  [port = 0] = await reservePorts(1);
});
afterAll(async () => {
  for (const command of started) command.signal('SIGKILL');
  await Promise.all(started.map(async (command) => command.ended()));
  await eventually(async () => (await processesWith('postgres', folder)).size === 0);
  await rm(folder, { recursive: true, force: true });
});

/** util-linux's `script` runs a command in a terminal; what needs one is skipped, and counted, without it. */
const hasScript = spawnSync('script', ['-qec', 'exit 0', '/dev/null']).status === 0;
const inTerminal = hasScript ? test : test.skip;

const dataDir = () => path.join(folder, 'data');

function start(settings: Record<string, string> = {}): RunningCommand {
  const command = runCommand('embedded/main.ts', { TOCSIN_DATA_DIR: dataDir(), PORT: String(port), ...settings });
  started.push(command);
  return command;
}

const tokenIn = (output: string) => /^token +(tcs_\w+)$/m.exec(output)?.[1] ?? '';

const acme = (token: string): Client =>
  httpClient(`http://127.0.0.1:${port}`, { Host: `acme.localhost:${port}`, Authorization: `Bearer ${token}` });

/** The output of a command that fails to start. */
async function errorOf(command: RunningCommand): Promise<string> {
  expect(await command.ended()).toBe(1);
  return command.errors().trim();
}

describe('everything in one process', () => {
  let command: RunningCommand;
  let token: string;

  test('starts without any server, with a demo workspace', async () => {
    command = start();
    expect(await command.ready()).toBe(`http://localhost:${port}`);
    token = tokenIn(command.output());
    const client = acme(token);
    const { body } = await client.get('/api/v1/incidents');
    expect(body.incidents).toHaveLength(3);
    expect(body.incidents[0]).toMatchObject({ status: 'resolved', custom_fields: { root_cause: 'change' } });
    expect((await client.get('/api/v1/services')).body.services).toHaveLength(3);
    expect(command.errors()).toBe('');
  });

  test('prints a line for each step with its time, and where to begin; no colours without a terminal', () => {
    const output = command.output();
    for (const step of ['PostgreSQL', 'migrations', 'services', 'gateway', 'demo data']) {
      expect(output).toMatch(new RegExp(`^${step} +\\d+\\.\\d s$`, 'm'));
    }
    expect(output).toMatch(new RegExp(`^address +http://localhost:${port}$`, 'm'));
    expect(output).toMatch(new RegExp(`^workspace +acme, http://acme\\.localhost:${port}$`, 'm'));
    expect(output).toMatch(new RegExp(`^docs +http://localhost:${port}/docs$`, 'm'));
    expect(output).toMatch(/^data in .*, log in .*$/m);
    expect(output).not.toContain('\u001b');
  });

  test('serves the metrics of all apps on the port after its own, each described once', async () => {
    const address = `http://127.0.0.1:${port + 1}/metrics`;
    expect(command.output()).toContain(`metrics    ${address} (of all apps)`);
    const text = await (await fetch(address)).text();
    const apps = new Set([...text.matchAll(/^tocsin_build_info\{.*app="([\w-]+)"/gm)].map(([, app]) => app));
    expect([...apps].sort()).toEqual(['catalog', 'custom-field', 'gateway', 'incident', 'webhook']);
    const described = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    expect(new Set(described).size).toBe(described.length);
  });

  test('prints a command that creates an incident', async () => {
    const printed = /^curl [^]*?'\{.*\}'$/m.exec(command.output())?.[0] ?? '';
    expect(printed).toContain(`http://localhost:${port}/api/v1/incidents`);
    expect(printed).toContain(`-H 'Authorization: Bearer ${token}'`);
    const answer = await acme(token).post('/api/v1/incidents', JSON.parse(/-d '(.*)'$/.exec(printed)?.[1] ?? ''));
    expect(answer).toMatchObject({ status: 201, body: { incident: { human_id: 'INC-4' } } });
  });

  test('describes an API whose first server resolves for every client', async () => {
    const { servers } = (await (await fetch(`http://localhost:${port}/api/v1/openapi.json`)).json()) as {
      servers: { url: string }[];
    };
    expect(servers.map(({ url }) => url)).toEqual([`http://localhost:${port}`, `http://{workspace}.localhost:${port}`]);
  });

  test('closes its files to other users, and logs no token', async () => {
    const files = ['demo-token', 'postgres-password', 'secret-keys', 'runtime.json', 'tocsin.log', 'postgres.log'];
    expect(await readdir(dataDir())).toEqual(expect.arrayContaining(files));
    for (const file of files) expect(statSync(path.join(dataDir(), file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(path.join(dataDir(), 'tocsin.log'), 'utf8')).not.toContain(token);
  });

  test('does not start twice on the same data', async () => {
    const [other] = await reservePorts(1);
    expect(await errorOf(start({ PORT: String(other) }))).toMatch(
      new RegExp(`^${dataDir()} is in use: another instance runs at http://localhost:${port}, process ${command.pid};`),
    );
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'on %s finishes running requests, and leaves no process',
    async (signal) => {
      if (signal === 'SIGTERM') {
        command = start({ TOCSIN_DEMO: '0' });
        await command.ready();
        expect(command.output()).not.toContain('tcs_');
      }
      const underWay = http.request({
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/api/v1/incidents',
        headers: { Host: 'acme.localhost', Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      });
      const answered = Promise.withResolvers<number>();
      underWay.on('response', (response) => answered.resolve(response.statusCode ?? 0));
      underWay.on('error', answered.reject);
      underWay.write('{"title":');
      // Until the gateway has read the request: only then is it running.
      await eventually(async () => (await acme(token).get('/api/v1/incidents?limit=1')).status === 200);
      command.signal(signal);
      await eventually(() => refusesConnections(port));
      command.signal(signal);
      underWay.end(`"Under way at ${signal}"}`);
      expect(await answered.promise).toBe(201);
      expect(await command.ended()).toBe(0);
      expect(await processesWith('postgres', folder)).toEqual(new Map());
      expect(await readdir(dataDir())).not.toContain('runtime.json');
    },
  );

  /** The title of the first incident that was created behind a cursor of the event feed. */
  const nextTitle = async (cursor: string): Promise<string> =>
    eventually(
      async () => {
        const { body } = await acme(token).get(`/api/v1/events?after=${cursor}&types=incident.created`);
        return body.events.length > 0 && body.events[0].data.incident.title;
      },
      { what: 'an event in the feed' },
    );

  test('keeps its data over a restart and a kill, after which its database stops', async () => {
    let cursor: string | undefined;
    // First its database dies with it, as when the machine does; then its database stops by itself.
    const killDatabase = async () => {
      for (const pid of (await processesWith('postgres', folder)).keys()) process.kill(pid, 'SIGKILL');
    };
    const databaseStops = async () => eventually(async () => (await processesWith('postgres', folder)).size === 0);
    for (const [title, crash] of [
      ['Under way at SIGTERM', killDatabase],
      ['Survived', databaseStops],
    ] as const) {
      command = start();
      await command.ready();
      expect(tokenIn(command.output())).toBe(token);
      // An event that was not recorded before the kill is recorded now, behind the cursor from before it.
      const followed = cursor === undefined ? undefined : await nextTitle(cursor);
      expect(followed).toBe(cursor === undefined ? undefined : 'Survived');
      ({ next_cursor: cursor } = (await acme(token).get('/api/v1/events')).body.pagination);
      const { body } = await acme(token).get('/api/v1/incidents?limit=1');
      expect(body.incidents[0].title).toBe(title);
      await acme(token).post('/api/v1/incidents', { title: 'Survived' });
      expect(await processesWith('postgres', folder)).not.toEqual(new Map());
      command.signal('SIGKILL');
      await crash();
      await command.ended();
    }
  });

  test('restarts a killed database', async () => {
    command = start();
    await command.ready();
    const [postmaster = 0] = (await processesWith('postgres -D', folder)).keys();
    process.kill(postmaster, 'SIGKILL');
    await eventually(
      async () => (await acme(token).post('/api/v1/incidents', { title: 'After the database died' })).status === 201,
    );
  });

  test('makes no other token when the demo key was revoked, and sets a new password when its file is missing', async () => {
    const admin = adminCommand({ TOCSIN_DATA_DIR: dataDir() });
    const { keys } = await admin('key', 'list', '--workspace', 'acme');
    await admin('key', 'revoke', '--id', String(keys[0].id));
    command.signal('SIGINT');
    expect(await command.ended()).toBe(0);
    await rm(path.join(dataDir(), 'postgres-password'));
    command = start();
    await command.ready();
    expect(command.output()).toMatch(
      /^token +the demo key has ended; make another with npm run -s admin -- key create$/m,
    );
    expect(command.output()).not.toContain('tcs_');
    expect((await admin('key', 'list', '--workspace', 'acme')).keys).toHaveLength(1);
    const user = ['--workspace', 'acme', '--user', 'demo@acme.example'];
    ({ token } = await admin('key', 'create', ...user, '--name', 'next', '--all-scopes'));
    const { body } = await acme(token).get('/api/v1/incidents?limit=1');
    expect(body.incidents[0].title).toBe('After the database died');
    expect(statSync(path.join(dataDir(), 'postgres-password')).mode & 0o777).toBe(0o600);
    expect(readFileSync(path.join(dataDir(), 'tocsin.log'), 'utf8')).toContain('postgres-password was missing');
    command.signal('SIGINT');
    expect(await command.ended()).toBe(0);
  });
});

describe('an error at the start is one line:', () => {
  test('a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await eventually(() => server.listening);
    const { port: taken } = server.address() as { port: number };
    expect(await errorOf(start({ PORT: String(taken) }))).toBe(
      `port ${taken} is taken: stop what listens there or set PORT`,
    );
    server.close();
  });

  test('a data folder that is a file', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '');
    expect(await errorOf(start({ TOCSIN_DATA_DIR: file }))).toMatch(
      /^the data folder .*file cannot be used: EEXIST\b.*$/,
    );
  });

  test('a malformed setting', async () => {
    expect(await errorOf(start({ PORT: 'eighty' }))).toMatch(/^settings: PORT: .*$/);
    expect(await errorOf(start({ BASE_DOMAIN: 'not a domain' }))).toBe('settings: BASE_DOMAIN: must be a domain name');
  });

  const inData = (name: string) => path.join(dataDir(), name);
  /** Changes a file of the data folder during `look`. */
  const spoiling = async (name: string, spoil: (file: string) => Promise<void>, look: () => Promise<void>) => {
    const before = await readFile(inData(name));
    await spoil(inData(name));
    await look();
    await writeFile(inData(name), before);
  };

  test('damaged secret keys', async () => {
    const damage = async (file: string) => writeFile(file, 'k1:short\n');
    await spoiling('secret-keys', damage, async () => {
      expect(await errorOf(start())).toBe(
        `${inData('secret-keys')} is damaged: restore it, or remove the folder and its data`,
      );
    });
  });

  test('missing secret keys', async () => {
    await spoiling('secret-keys', rm, async () => {
      expect(await errorOf(start())).toBe(
        `${inData('secret-keys')} is missing, and the secrets in the database in ${inData('postgres')} cannot be read ` +
          'without it: restore the file, set TOCSIN_SECRET_KEYS to the keys that it held, or remove the data with make reset',
      );
      expect(await readdir(dataDir())).not.toContain('secret-keys');
    });
  });

  test('a wrong password', async () => {
    const change = async (file: string) => writeFile(file, 'another\n');
    await spoiling('postgres-password', change, async () => {
      expect(await errorOf(start())).toBe(
        `${inData('postgres-password')} is not the password of the database in ${inData('postgres')}: ` +
          'restore it, or remove the file, and the next start makes a new password',
      );
      expect(await processesWith('postgres', folder)).toEqual(new Map());
    });
  });

  test('a database of another major version', async () => {
    const change = async (file: string) => writeFile(file, '14\n');
    await spoiling('postgres/PG_VERSION', change, async () => {
      expect(await errorOf(start())).toMatch(
        /^the database in .*postgres is of PostgreSQL 14, and this is PostgreSQL \d+: .*make backup FILE=.*make restore FILE=.*upgrading\.md.*make reset/,
      );
    });
  });

  test('a damaged database', async () => {
    await rm(inData('postgres/PG_VERSION'));
    expect(await errorOf(start())).toMatch(
      /^the database did not start: ".*postgres" is not a valid data directory: .*$/,
    );
    expect(await processesWith('postgres', folder)).toEqual(new Map());
  });
});

describe('make reset', () => {
  const reset = async (settings: Record<string, string> = { FORCE: '1' }) => {
    const command = runCommand('embedded/reset.ts', { TOCSIN_DATA_DIR: dataDir(), ...settings });
    return { code: await command.ended(), output: command.output() };
  };

  test('without a terminal needs FORCE=1', async () => {
    const before = await readdir(dataDir());
    expect(await reset({})).toEqual({
      code: 1,
      output: `this removes all data in ${dataDir()}, and there is no terminal to confirm it: make reset FORCE=1\n`,
    });
    expect(await readdir(dataDir())).toEqual(before);
  });

  inTerminal.each(['no', 'y', ''])('in a terminal asks, and takes %j for a no', async (answer) => {
    const { code, output } = await resetInTerminal(answer);
    expect(code).not.toBe(0);
    expect(output).toContain(`Remove all data in ${dataDir()}? Type yes: `);
    expect(output).toContain('nothing was removed');
    expect(await readdir(dataDir())).toContain('secret-keys');
  });

  test('removes the files of the instance, and no others', async () => {
    await writeFile(path.join(dataDir(), 'letter.txt'), 'mine');
    expect(await reset()).toEqual({
      code: 0,
      output: `removed the data in ${dataDir()}; kept the folder, because it contains other files: letter.txt\n`,
    });
    expect(await readdir(dataDir())).toEqual(['letter.txt']);
    await rm(path.join(dataDir(), 'letter.txt'));
    expect(await reset()).toEqual({ code: 0, output: `removed ${dataDir()}\n` });
    expect(await readdir(folder)).not.toContain('data');
  });
});

/** Runs `make reset` in a terminal, and answers its question. */
async function resetInTerminal(answer: string): Promise<{ code: number | null; output: string }> {
  const line = `"${process.execPath}" infra/embedded/reset.ts`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      TERM: 'dumb',
      TOCSIN_DATA_DIR: dataDir(),
    },
  });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  await eventually(() => output.includes('Type yes:'));
  child.stdin.write(`${answer}\n`);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

async function refusesConnections(at: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = http.get({ host: '127.0.0.1', port: at, path: '/healthz', agent: false }, (response) => {
    response.resume();
    resolve(false);
  });
  probe.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  return promise;
}
