import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../installation/environment.ts';
import { startParts } from '../../embedded/start-parts.ts';
import type { LoadRequest } from './load.ts';
import { type RunLoad, startScript } from './processes.ts';
import type { BenchSystem } from './system.ts';
import { clientOf, type World } from './world.ts';

export const PEER_NAME = 'parse-server';
const VERSION = '9.10.0';
/** Kept, so that only the first run needs the registry. It is no dependency of Tocsin. */
const FOLDER = path.join(ROOT, 'node_modules/.cache/bench-peer');
const CLASS = '/parse/classes/Incident';
const HEADERS = { host: 'peer', 'x-parse-application-id': 'bench' };
const CLIENTS = 16;

/** Starts parse-server, one process that stores any kind of object, with as many incidents as Tocsin, on the same Postgres. */
export async function startPeer(system: BenchSystem, world: World, runLoad: RunLoad) {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(path.join(FOLDER, 'package.json'), '{"private":true}');
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `parse-server@${VERSION}`];
  await promisify(execFile)('npm', install, { cwd: FOLDER });
  const url = new URL(system.databaseUrl);
  const database = `${url.pathname.slice(1)}_peer`;
  url.pathname = database;
  await system.sql.query(`create database "${database}"`);
  return startParts(async (closing, stop) => {
    closing.push(async () => system.sql.query(`drop database "${database}" with (force)`));
    const {
      pid,
      origin,
      stop: stopServer,
    } = await startScript('peer-process.ts', [FOLDER], { DATABASE_URL: url.href });
    closing.push(stopServer);
    const create = await createRequests(system, world);
    const count = world.reduce((sum, { incidents }) => sum + incidents.length, 0);
    // The first request makes the table.
    await runLoad({ origin, clients: 1, requests: create, count: 1 });
    await runLoad({ origin, clients: CLIENTS, requests: create, count: count - 1 });
    const get = (end: string): LoadRequest => ({ method: 'GET', path: `${CLASS}${end}`, headers: HEADERS });
    const find = (query: Record<string, string>) => get(`?${new URLSearchParams(query).toString()}`);
    const listed = await fetch(origin + find({ limit: '1000', keys: 'objectId' }).path, { headers: HEADERS });
    const { results } = (await listed.json()) as { results: { objectId: string }[] };
    const list = world.map(({ id }) =>
      find({ where: JSON.stringify({ workspace: id }), limit: '50', order: '-createdAt' }),
    );
    /** What it is asked instead, by the name of the operation. */
    const requests: Partial<Record<string, LoadRequest[]>> = {
      get: results.map(({ objectId }) => get(`/${objectId}`)),
      'list of 50': list,
      create,
    };
    return { pid, origin, database, requests, stop };
  });
}

/** Its incidents have the properties of one of Tocsin. */
async function createRequests(system: BenchSystem, world: World): Promise<LoadRequest[]> {
  const [first] = world;
  if (first === undefined) throw new Error('there is no workspace');
  const { text } = await clientOf(system, first).get(`/api/v1/incidents/${first.incidents[0]}`);
  const { id: _, ...incident } = (JSON.parse(text) as { incident: Record<string, unknown> }).incident;
  return world.map(({ id: workspace }) => ({
    method: 'POST',
    path: CLASS,
    headers: HEADERS,
    body: JSON.stringify({ ...incident, workspace, title: 'Checkout is down {n}' }),
  }));
}
