/**
 * `npm run bench`: measures Tocsin as separate processes on the local servers, beside one bare process that executes the
 * same statements on the same tables, in turns; or, with `--growth`, a large installation beside a small one. Prints tables,
 * or JSON with `--json`; `--write` puts them into docs/performance.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../installation/environment.ts';
import { formatted } from '../../generate/formatted.ts';
import { runScript } from '../../installation/run-script.ts';
import { interruption } from '../interruption.ts';
import { CONNECTIONS_OF_SYSTEMS, findServers, releaseServers } from '../servers/find-servers.ts';
import type { ProcessGroups } from './cpu.ts';
import { measureGrowth } from './growth.ts';
import { measureInTurns, type Target } from './measure.ts';
import { floorRequests, OPERATIONS } from './operations.ts';
import { PEER_NAME, startPeer } from './peer.ts';
import { loadIn, type RunLoad, startScript } from './processes.ts';
import { type OperationResult, render, renderGrowth, renderReplicas } from './report.ts';
import { startSystem } from './system.ts';
import { measureReplicas } from './replicas.ts';
import { createWorld } from './world.ts';

/** Reads of each kind before anything is measured; the creates of the world warm up the rest. */
const WARM_UP = 5_000;

type Options = ReturnType<typeof readOptions>;

/** @throws an error with a one-line message for an unknown flag or a value that is not a whole number */
function readOptions() {
  const { values } = parseArgs({
    options: {
      clients: { type: 'string', default: '1,16,64' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      rate: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      growth: { type: 'boolean', default: false },
      workspaces: { type: 'string', default: '10000' },
      incidents: { type: 'string', default: '10000000' },
      replicas: { type: 'boolean', default: false },
      percent: { type: 'string', default: '15' },
      peers: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const count = (flag: string, text: string): number => {
    if (!/^[1-9]\d{0,7}$/.test(text)) throw new Error(`--${flag} must be a whole number of at least 1`);
    return Number(text);
  };
  const names = OPERATIONS.map(({ name }) => name);
  const unknown = values.only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: the operations are ${names.join(', ')}`);
  return {
    ...values,
    clients: values.clients.split(',').map((text) => count('clients', text)),
    rounds: count('rounds', values.rounds),
    seconds: count('seconds', values.seconds),
    rate: values.rate === undefined ? undefined : count('rate', values.rate),
    workspaces: count('workspaces', values.workspaces),
    incidents: count('incidents', values.incidents),
    percent: count('percent', values.percent),
  };
}

async function measureOperations(runLoad: RunLoad, options: Options): Promise<OperationResult[]> {
  await using started = new AsyncDisposableStack();
  const system = await startSystem();
  started.defer(system.stop);
  const world = await createWorld(system, runLoad);
  const floor = await startScript('floor.ts', [], { DATABASE_URL: system.databaseUrl });
  started.defer(floor.stop);
  const proxy = await startScript('proxy.ts', [new URL(floor.origin).port]);
  started.defer(proxy.stop);
  const peer = options.peers ? await startPeer(system, world, runLoad) : undefined;
  if (peer !== undefined) started.defer(peer.stop);

  /** A process, with the connections to a database that no app of Tocsin has. */
  const withBackends = async (name: string, pid: number, database?: string): Promise<ProcessGroups> => {
    const { rows } = await system.sql.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = coalesce($1, current_database()) and usename = current_user
       and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      [database ?? null],
    );
    return new Map([[name, [pid, ...rows.map((row) => row.pid)]]]);
  };
  for (const { requests, hasTail } of OPERATIONS)
    if (!hasTail)
      await runLoad({ origin: system.origin, clients: 16, requests: await requests(world, system), count: WARM_UP });

  const results: OperationResult[] = [];
  for (const operation of OPERATIONS.filter(({ name }) => options.only.length === 0 || options.only.includes(name))) {
    const { name, requests, hasTail } = operation;
    const peerRequests = peer?.requests[name];
    const floorGroups = async () => withBackends('floor', floor.pid);
    const targets: Target[] = [
      {
        ...{ name: 'Tocsin', origin: system.origin, groups: system.groups },
        requests: async () => requests(world, system),
        drained: hasTail ? system.drained : undefined,
      },
      {
        name: 'floor',
        origin: floor.origin,
        requests: async () => floorRequests(world, operation, system),
        groups: floorGroups,
      },
      {
        ...{ name: 'behind a proxy', origin: proxy.origin },
        requests: async () => floorRequests(world, operation, system),
        groups: async () => new Map([...(await floorGroups()), ['proxy', [proxy.pid]]]),
      },
      ...(peer === undefined || peerRequests === undefined
        ? []
        : [
            {
              ...{ name: PEER_NAME, origin: peer.origin, requests: async () => peerRequests },
              groups: async () => withBackends('peer', peer.pid, peer.database),
            },
          ]),
    ];
    for (const clients of options.clients) {
      const samples = await measureInTurns(runLoad, targets, { ...options, clients });
      results.push({ name, clients, samples });
      console.error(`${name}, ${clients}: ${samples['Tocsin']?.perSecond.toFixed(0)}/s`);
    }
  }
  return results;
}

/** Returns the name of the results on the page, the results, and their text. */
async function measure(
  runLoad: RunLoad,
  options: Options,
  conditions: { machine: string; date: string },
): Promise<[name: string, measured: object, text: string]> {
  if (options.growth) {
    const measured = { growth: await measureGrowth(runLoad, options) };
    return ['growth', measured, renderGrowth({ ...conditions, ...measured })];
  }
  if (options.replicas) {
    const measured = { replicas: await measureReplicas(runLoad, options) };
    return ['replicas', measured, renderReplicas({ ...conditions, ...measured })];
  }
  const measured = { operations: await measureOperations(runLoad, options) };
  return ['results', measured, render({ ...conditions, ...measured })];
}

/** Replaces what is between two comments of the page. */
async function write(results: string, text: string): Promise<void> {
  const file = path.join(ROOT, 'docs/performance.md');
  const [begin, end] = [`<!-- ${results} -->`, `<!-- end of ${results} -->`];
  const [before = '', fromBegin = ''] = (await readFile(file, 'utf8')).split(begin);
  const [, after = ''] = fromBegin.split(end);
  await writeFile(file, await formatted(file, `${before}${begin}\n\n${text}\n\n${end}${after}`));
}

const interrupted = interruption('stopping what was started');
await runScript(async () => {
  const options = readOptions();
  await using started = new AsyncDisposableStack();
  await findServers(options.replicas ? CONNECTIONS_OF_SYSTEMS : undefined);
  started.defer(releaseServers);
  const clients = await startScript('load.ts');
  started.defer(clients.stop);
  const runLoad = loadIn(clients, interrupted);
  const report = {
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'an unknown processor'}`,
    date: new Date().toISOString().slice(0, 10),
  };
  const [name, measured, text] = await measure(runLoad, options, report);
  console.log(options.json ? JSON.stringify({ ...report, ...measured }, undefined, 2) : text);
  if (options.write) await write(name, text);
});
