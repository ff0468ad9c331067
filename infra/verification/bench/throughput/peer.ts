import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../../environment.ts';
import { startParts } from '../../../start-parts.ts';
import type { LoadProcess } from './load-process.ts';
import type { BenchRequest } from './messages.ts';
import { type ListeningProcess, startScript } from './floor-process.ts';
import { type BenchSystem, clientOf } from './system.ts';
import type { World } from './world.ts';

export const PEER_NAME = 'parse-server';
const VERSION = '9.10.0';
/** Kept, so that only the first run needs the registry. It is no dependency of Tocsin. */
const FOLDER = path.join(ROOT, 'node_modules/.cache/bench-peer');
const CLASS = '/parse/classes/Incident';
const HEADERS = ['Host: peer', 'X-Parse-Application-Id: bench'];
const CLIENTS = 16;

/** parse-server, one process that stores any kind of object, with as many incidents as Tocsin, on the same Postgres. */
export interface Peer extends ListeningProcess {
  /** Its database. */
  database: string;
  /** What it is asked instead of a case's requests; undefined: it has no such operation. */
  requests(name: string): BenchRequest[] | undefined;
  stop(): Promise<void>;
}

export async function startPeer(system: BenchSystem, world: World, load: LoadProcess): Promise<Peer> {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(path.join(FOLDER, 'package.json'), '{"private":true}');
  await promisify(execFile)(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', `parse-server@${VERSION}`],
    { cwd: FOLDER },
  );
  const url = new URL(system.databaseUrl);
  const database = `${url.pathname.slice(1)}_peer`;
  url.pathname = database;
  await system.sql.query(`create database "${database}"`);
  return startParts(async (closing, stop) => {
    closing.push(async () => system.sql.query(`drop database "${database}" with (force)`));
    const server = await startScript('peer-process.ts', [FOLDER], { ...process.env, DATABASE_URL: url.href });
    closing.push(server.stop);
    const requests = await fill({ system, world, load, server });
    return { ...server, database, requests: (name) => requests[name], stop };
  });
}

/** Creates the incidents, whose properties are those of one of Tocsin. Returns the requests by the name of their case. */
async function fill(options: {
  system: BenchSystem;
  world: World;
  load: LoadProcess;
  server: ListeningProcess;
}): Promise<Partial<Record<string, BenchRequest[]>>> {
  const { system, world, load, server } = options;
  const [first] = world.workspaces;
  if (first === undefined) throw new Error('there is no workspace');
  const { text } = await clientOf(system, first).get(`/api/v1/incidents/${first.incidents[0]}`);
  const { id, ...incident } = (JSON.parse(text) as { incident: Record<string, unknown> }).incident;
  const create = world.workspaces.map((workspace) => ({
    method: 'POST' as const,
    path: CLASS,
    headers: HEADERS,
    body: JSON.stringify({ ...incident, workspace: workspace.id, title: 'Checkout is down {n}' }),
  }));
  const count = world.workspaces.reduce((sum, { incidents }) => sum + incidents.length, 0);
  const run = { addresses: [server.address], clients: CLIENTS, seconds: Number.MAX_SAFE_INTEGER };
  // The first request makes the table.
  await load.run({ ...run, clients: 1, requests: create, count: 1 });
  await load.run({ ...run, requests: create, count: count - 1 });
  const get = (path: string): BenchRequest => ({ method: 'GET', path: `${CLASS}${path}`, headers: HEADERS });
  const find = (query: Record<string, string>) => get(`?${new URLSearchParams(query).toString()}`);
  const listed = find({ limit: '1000', keys: 'objectId' });
  const response = await fetch(`http://${server.address.host}:${server.address.port}${listed.path}`, {
    headers: { 'X-Parse-Application-Id': 'bench' },
  });
  const { results } = (await response.json()) as { results: { objectId: string }[] };
  return {
    get: results.map(({ objectId }) => get(`/${objectId}`)),
    'list of 50': world.workspaces.map((workspace) =>
      find({ where: JSON.stringify({ workspace: workspace.id }), limit: '50', order: '-createdAt' }),
    ),
    create,
  };
}
