import { readFileSync, statSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Client, eventually, httpClient } from '@tocsin/testing';
import { freePorts } from '../ports.ts';
import { processesWith, runCommand, type RunningCommand } from '../testing/commands.ts';

let folder: string;
let port: number;
const started: RunningCommand[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-embedded-'));
  await chmod(folder, 0o711);
  [port = 0] = await freePorts(1);
});
afterAll(async () => {
  for (const command of started) command.signal('SIGKILL');
  await Promise.all(started.map(async (command) => command.ended()));
  await eventually(async () => (await processesWith('postgres', folder)).size === 0);
  await rm(folder, { recursive: true, force: true });
});

const dataDir = () => path.join(folder, 'data');

function start(settings: Record<string, string> = {}): RunningCommand {
  const command = runCommand('embedded/main.ts', { TOCSIN_DATA_DIR: dataDir(), PORT: String(port), ...settings });
  started.push(command);
  return command;
}

const tokenIn = (output: string) => /^token +(tcs_\w+)$/m.exec(output)?.[1] ?? '';

const acme = (token: string): Client =>
  httpClient(`http://127.0.0.1:${port}`, { Host: `acme.localhost:${port}`, Authorization: `Bearer ${token}` });

/** What the whole of it prints that cannot be started. */
async function refusal(command: RunningCommand): Promise<string> {
  expect(await command.ended()).toBe(1);
  return command.output().trim();
}

describe('everything in one process', () => {
  let command: RunningCommand;
  let token: string;

  test('starts on nothing, and has a workspace to try it on', async () => {
    command = start();
    expect(await command.ready()).toBe(`http://localhost:${port}`);
    token = tokenIn(command.output());
    const client = acme(token);
    const { body } = await client.get('/api/v1/incidents');
    expect(body.incidents).toHaveLength(3);
    expect(body.incidents[0]).toMatchObject({ status: 'resolved', custom_fields: { root_cause: 'change' } });
    expect((await client.get('/api/v1/services')).body.services).toHaveLength(3);
    expect(command.output()).not.toContain('sample data');
  }, 120_000);

  test('prints a command that declares an incident', async () => {
    const printed = /^curl [^]*?'\{.*\}'$/m.exec(command.output())?.[0] ?? '';
    expect(printed).toContain(`http://acme.localhost:${port}/api/v1/incidents`);
    expect(printed).toContain(`-H 'Authorization: Bearer ${token}'`);
    const answer = await acme(token).post('/api/v1/incidents', JSON.parse(/-d '(.*)'$/.exec(printed)?.[1] ?? ''));
    expect(answer).toMatchObject({ status: 201, body: { incident: { human_id: 'INC-4' } } });
  });

  test('keeps what is secret to itself', async () => {
    const files = ['demo-token', 'postgres-password', 'secret-keys', 'runtime.json', 'tocsin.log', 'postgres.log'];
    expect(await readdir(dataDir())).toEqual(expect.arrayContaining(files));
    for (const file of files) expect(statSync(path.join(dataDir(), file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(path.join(dataDir(), 'tocsin.log'), 'utf8')).not.toContain(token);
  });

  test('does not let a second one onto its data', async () => {
    const [other] = await freePorts(1);
    expect(await refusal(start({ PORT: String(other) }))).toMatch(
      new RegExp(`^${dataDir()} is in use: another instance runs at http://localhost:${port}, process ${command.pid};`),
    );
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'at %s finishes the requests under way, and leaves nothing running',
    async (signal) => {
      if (signal === 'SIGTERM') {
        command = start();
        await command.ready();
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
      // Until the gateway has it: what is not read yet is not under way.
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
    120_000,
  );

  test('has its data after a restart, and after everything was killed', async () => {
    for (const title of ['Under way at SIGTERM', 'Survived']) {
      command = start();
      await command.ready();
      expect(tokenIn(command.output())).toBe(token);
      const { body } = await acme(token).get('/api/v1/incidents?limit=1');
      expect(body.incidents[0].title).toBe(title);
      await acme(token).post('/api/v1/incidents', { title: 'Survived' });
      command.signal('SIGKILL');
      for (const pid of (await processesWith('postgres', folder)).keys()) process.kill(pid, 'SIGKILL');
      await command.ended();
    }
  }, 180_000);

  test('takes its database along when it is killed', async () => {
    command = start({ TOCSIN_DEMO: '0' });
    await command.ready();
    expect(command.output()).not.toContain('tcs_');
    expect(await processesWith('postgres', folder)).not.toEqual(new Map());
    command.signal('SIGKILL');
    await eventually(async () => (await processesWith('postgres', folder)).size === 0);
  }, 120_000);

  test('brings a database back that was killed', async () => {
    command = start();
    await command.ready();
    const [postmaster = 0] = (await processesWith('postgres -D', folder)).keys();
    process.kill(postmaster, 'SIGKILL');
    await eventually(
      async () => (await acme(token).post('/api/v1/incidents', { title: 'After the database died' })).status === 201,
      { within: 30_000 },
    );
    command.signal('SIGINT');
    expect(await command.ended()).toBe(0);
  }, 120_000);
});

describe('what keeps it from starting is said in one line:', () => {
  test('a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await eventually(() => server.listening);
    const { port: taken } = server.address() as { port: number };
    expect(await refusal(start({ PORT: String(taken) }))).toBe(
      `port ${taken} is taken: stop what listens there or set PORT`,
    );
    server.close();
  });

  test('a data folder that is none', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '');
    expect(await refusal(start({ TOCSIN_DATA_DIR: file }))).toMatch(
      /^the data folder .*file cannot be used: EEXIST\b.*$/,
    );
  });

  test('a setting that is malformed', async () => {
    expect(await refusal(start({ PORT: 'eighty' }))).toMatch(/^settings: PORT: .*$/);
    expect(await refusal(start({ BASE_DOMAIN: 'not a domain' }))).toBe('settings: BASE_DOMAIN: must be a domain name');
  }, 60_000);

  test('secrets that went missing', async () => {
    await writeFile(path.join(dataDir(), 'secret-keys'), 'k1:short\n');
    expect(await refusal(start())).toBe(
      `${path.join(dataDir(), 'secret-keys')} is damaged: restore it, or remove the folder and its data`,
    );
  });

  test('a database that is damaged', async () => {
    await rm(path.join(dataDir(), 'secret-keys'));
    await rm(path.join(dataDir(), 'postgres/PG_VERSION'));
    expect(await refusal(start())).toMatch(
      /^the database did not start: ".*postgres" is not a valid data directory: .*$/,
    );
    expect(await processesWith('postgres', folder)).toEqual(new Map());
  });
});

async function refusesConnections(at: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = http.get({ host: '127.0.0.1', port: at, path: '/healthz', agent: false }, (response) => {
    response.resume();
    resolve(false);
  });
  probe.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  return promise;
}
