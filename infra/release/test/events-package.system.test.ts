import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Client, createTestDatabase, eventually, type TestDatabase, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import pg from 'pg';
import { ROOT } from '../../installation/environment.ts';
import { startSystem, type System } from '../../verification/systems/system.ts';

const run = promisify(execFile);
const NODE_MODULES = path.join(ROOT, 'node_modules');

/** What a program that uses the package sees of its types. */
const TYPED_PROGRAM = `
import { consume, type EventData, parseEvent, rememberInMemory, type TocsinEvent } from '@tocsin/events';
import schemas from '@tocsin/events/schemas.json' with { type: 'json' };

export const definitions: object = schemas.definitions['incident.created'];

export function read(bytes: Uint8Array): string {
  const parsed = parseEvent(bytes);
  // @ts-expect-error: only an event has an event
  void parsed.event;
  if (parsed.kind === 'broken') return parsed.reason;
  if (parsed.kind === 'newer_version') return String(parsed.schemaVersion);
  if (parsed.kind === 'unknown_type') return parsed.event.type;
  const { event } = parsed;
  // @ts-expect-error: not every event has an incident
  void event.data.incident;
  if (event.type === 'team.changed') return event.data.team.name;
  return event.id;
}

const common = { connection: 'amqp://localhost', queue: 'billing', onError: () => undefined };
export const start = () => [
  consume({ ...common, types: ['incident.updated'], handle: ({ data }) => void data.changes.length }),
  consume({ ...common, types: ['incident.*'], handle: ({ data }) => void data.incident.reference.length }),
  consume({ ...common, types: ['user.changed', 'team.changed'], handle: (event) => void event.data.version.toFixed() }),
  consume({ ...common, types: ['#'], remember: rememberInMemory(), handle: (_, { transaction }) => transaction }),
  // @ts-expect-error: there is no such type
  consume({ ...common, types: ['incident.creatd'], handle: () => undefined }),
  // @ts-expect-error: an event about a user has no incident
  consume({ ...common, types: ['user.changed'], handle: ({ data }) => void data.incident }),
];

export const ids = (event: TocsinEvent<'incident.created'>): EventData['incident.created']['incident']['id'] =>
  event.data.incident.id;
`;

/** A project outside of the repository that has installed the packed package. */
async function installPackage(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-consumer-'));
  const pack = ['pack', '--workspace', '@tocsin/events', '--pack-destination', folder, '--json'];
  const { stdout } = await run('npm', pack, { cwd: ROOT });
  const filename = /"filename": "([^"]+)"/.exec(stdout)?.[1] ?? '';
  const modules = path.join(folder, 'node_modules');
  const installed = path.join(modules, '@tocsin/events');
  await mkdir(installed, { recursive: true });
  // As npm does, but without a registry: the other packages are those of the repository.
  await run('tar', ['-xzf', path.join(folder, filename), '-C', installed, '--strip-components=1']);
  await mkdir(path.join(modules, '@types'));
  for (const name of ['amqplib', 'pg', '@types/node', '@types/pg']) {
    await symlink(path.join(NODE_MODULES, name), path.join(modules, name));
  }
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await copyFile(path.join(ROOT, 'docs/guides/examples/consumer.ts'), path.join(folder, 'consumer.ts'));
  await writeFile(path.join(folder, 'typed.ts'), TYPED_PROGRAM);
  return folder;
}

describe('the packed package of the events', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await installPackage();
  });
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  test('contains plain JavaScript, types, schemas, licence and nothing else', async () => {
    const { stdout } = await run('find', ['.', '-type', 'f'], {
      cwd: path.join(folder, 'node_modules/@tocsin/events'),
    });
    const files = stdout.trim().split('\n').toSorted();
    expect(files).toEqual(
      expect.arrayContaining(['./README.md', './dist/LICENSE', './dist/index.js', './schemas.json']),
    );
    const others = files.filter((file) => !/^\.\/dist\/(?:generated\/)?[a-z-]+\.(?:js|d\.ts)$/.test(file));
    expect(others).toEqual(['./README.md', './dist/LICENSE', './package.json', './schemas.json']);
  });

  test('has types that a strict project compiles with, libraries included', async () => {
    const compilerOptions = {
      ...{ strict: true, skipLibCheck: false, noEmit: true, exactOptionalPropertyTypes: true },
      ...{ noUncheckedIndexedAccess: true, module: 'nodenext', target: 'es2022', types: ['node'] },
    };
    const include = ['consumer.ts', 'typed.ts'];
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
    const compiling = run(process.execPath, [path.join(NODE_MODULES, 'typescript/bin/tsc'), '-p', folder]);
    expect(await compiling.catch((error: unknown) => (error as { stdout: string }).stdout)).toEqual({
      stdout: '',
      stderr: '',
    });
  });

  describeWithServers('and the example of the guide', () => {
    const queue = `billing.${randomBytes(6).toString('hex')}`;
    let system: System;
    let client: Client;
    let database: TestDatabase;
    let pool: pg.Pool;
    let program: ChildProcess;
    let output = '';

    beforeAll(async () => {
      [system, database] = await Promise.all([startSystem(), createTestDatabase()]);
      pool = new pg.Pool({ connectionString: database.adminUrl });
      client = await system.as();
      await start();
    });
    afterAll(async () => {
      program.kill('SIGKILL');
      await pool.end();
      const connection = await connect(testServers().amqpUrl ?? '');
      const channel = await connection.createChannel();
      for (const name of [queue, `${queue}.dead`]) await channel.deleteQueue(name);
      await channel.deleteExchange(`${queue}.dead`);
      await connection.close();
      await Promise.all([system.stop(), database.drop()]);
    });

    async function start(): Promise<void> {
      output = '';
      program = spawn(process.execPath, ['consumer.ts'], {
        cwd: folder,
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          AMQP_URL: testServers().amqpUrl,
          DATABASE_URL: database.adminUrl,
          TOCSIN_NAMESPACE: system.namespace,
          QUEUE: queue,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [program.stdout, program.stderr]) stream?.on('data', (bytes) => (output += String(bytes)));
      await has('consuming');
    }
    const has = async (line: string) =>
      eventually(
        () => {
          if (program.exitCode !== null) throw new Error(output);
          return output.split('\n').includes(line);
        },
        { what: line },
      );
    /** The program prints a line before it commits. */
    const stores = async (incidents: { reference: string; title: string }[]) =>
      eventually(async () => {
        const { rows } = await pool.query('select reference, title from active_incidents');
        expect(rows).toEqual(incidents);
        return true;
      });

    test('keep the active incidents, also after the program was killed', async () => {
      const { body } = await client.post('/api/v1/incidents', { title: 'Checkout is down' });
      const { id, human_id: reference } = body.incident;
      await has(`incident.created ${reference}`);
      await stores([{ reference, title: 'Checkout is down' }]);

      const killed = once(program, 'close');
      program.kill('SIGKILL');
      await killed;
      const change = { title: 'Checkout is slow' };
      const changed = await client.patch(`/api/v1/incidents/${id}`, change, { 'If-Service-Resource-Version': '1' });
      expect(changed.status).toBe(200);
      await start();
      await has(`incident.updated ${reference}`);
      await stores([{ reference, title: 'Checkout is slow' }]);

      await client.post(`/api/v1/incidents/${id}/archive`);
      await has(`incident.archived ${reference}`);
      await stores([]);

      const ended = once(program, 'close');
      program.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      expect(output.trim().split('\n').at(-1)).toBe('stopped');
    });
  });
});
