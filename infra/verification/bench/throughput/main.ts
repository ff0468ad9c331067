/**
 * `npm run bench`: measures Tocsin as separate processes on the local servers, beside one bare process that executes the
 * same statements on the same tables, in turns. Prints tables, or JSON with `--json`; `--write` puts them into
 * docs/performance.md.
 */
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { type Receiver, testServers } from '@tocsin/testing';
import { runScript } from '../../../run-script.ts';
import { APP_NAMES } from '../../../apps.ts';
import { memoryOf, shareOfMemory } from '../../systems/processes.ts';
import { startTrustedReceiver } from '../../systems/receivers.ts';
import { ROOT } from '../../../environment.ts';
import { formatted } from '../../../generate/formatted.ts';
import { findServers, releaseServers } from '../../servers/find-servers.ts';
import { interruption } from '../../interruption.ts';
import { CASES } from './cases.ts';
import { growthChart } from './chart.ts';
import { countCalls } from './count-calls.ts';
import { startFloor } from './floor-process.ts';
import { startPeer } from './peer.ts';
import { measureGrowth } from './growth.ts';
import { type LoadProcess, startLoad } from './load-process.ts';
import { type BenchOptions, benchOptions } from './options.ts';
import { render, type Report } from './report.ts';
import { measureReplicas } from './replicas.ts';
import { type Bench, type CaseResult, runCase } from './run-case.ts';
import { statementProxy } from './statement-proxy.ts';
import { type BenchSystem, startSystem } from './system.ts';
import { measureTail } from './tail.ts';
import { createWorld } from './world.ts';

/** Warm-up reads; the creates of the world warm up the rest. */
const WARM_UP = 20_000;
const FOR_MEMORY = 100_000;
const CLIENTS = 16;
/** One address for each workspace with a webhook: the limits of an address apply to all that send to it. */
const RECEIVERS = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`);

type Measured = Pick<Report, 'cases' | 'tail' | 'memory'>;

/** Starts a system with a world, a floor and receivers, and stops them after `work`. */
async function withBench<Result>(
  options: { load: LoadProcess; databaseServer?: string; hasPeer?: boolean },
  work: (bench: Bench, more: { system: BenchSystem; receiver: Receiver }) => Promise<Result>,
): Promise<Result> {
  const { load, databaseServer } = options;
  await using started = new AsyncDisposableStack();
  const { receiver, settings, stop } = await startTrustedReceiver(RECEIVERS);
  started.defer(stop);
  const system = await startSystem({ settings, ...(databaseServer !== undefined && { databaseServer }) });
  started.defer(system.stop);
  const urls = RECEIVERS.map((address) => receiver.url('/bench', address));
  const world = await createWorld(system, load, urls);
  const floor = await startFloor(system.databaseUrl);
  started.defer(floor.stop);
  const peer = options.hasPeer === true ? await startPeer(system, world, load) : undefined;
  if (peer !== undefined) started.defer(peer.stop);
  return await work({ system, load, world, floor, ...(peer !== undefined && { peer }) }, { system, receiver });
}

/** Measures a process of each app, and the supervisor. */
async function ofAll(
  system: BenchSystem,
  measureMemory: (pid: number) => Promise<number>,
): Promise<Record<string, number>> {
  const groups = await system.groups();
  const names = [...APP_NAMES, 'supervisor'];
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name): Promise<[string, number]> => [name, await measureMemory(groups.get(name)?.[0] ?? 0)]),
    ),
  );
}

const memoryOfAll = async (system: BenchSystem) => ofAll(system, async (pid) => (await memoryOf(pid))?.now ?? 0);

const selectCases = ({ only }: BenchOptions) => CASES.filter(({ name }) => only.length === 0 || only.includes(name));

async function measure(load: LoadProcess, options: BenchOptions, print: (line: string) => void): Promise<Measured> {
  const atStart = await memoryAtStart();
  return withBench({ load, hasPeer: options.hasPeers }, async (bench, { system, receiver }) => {
    const selected = selectCases(options);
    const send = async (count: number) => {
      for (const { requests } of CASES.slice(0, 4)) {
        await load.run({
          addresses: system.addresses,
          clients: CLIENTS,
          requests: requests(bench.world),
          seconds: Number.MAX_SAFE_INTEGER,
          count: count / 4,
        });
      }
    };
    await send(WARM_UP);
    const tail = await measureTail(bench, system.namespace, receiver);
    print('tail measured');
    const cases: CaseResult[] = [];
    for (const benchCase of selected) {
      for (const clients of options.clients) {
        const result = await runCase(bench, benchCase, { ...options, clients });
        cases.push(result);
        print(`${result.name}, ${clients}: ${result.tocsin.perSecond.toFixed(0)}/s, ratio ${result.ratio.toFixed(2)}`);
      }
    }
    await send(FOR_MEMORY);
    return { cases, tail, memory: { ...atStart, afterwards: await memoryOfAll(system), requests: FOR_MEMORY } };
  });
}

/**
 * Of processes that have served nothing yet: `firstStart` with an empty compile cache, so that they compile the sources;
 * `atRest` with the cache that those have written, and `shares` of the same processes.
 */
async function memoryAtStart(): Promise<Pick<Report['memory'], 'firstStart' | 'atRest' | 'shares'>> {
  await using cache = await mkdtempDisposable(path.join(tmpdir(), 'tocsin-bench-'));
  const start = async () => {
    const system = await startSystem({ settings: { NODE_COMPILE_CACHE: cache.path } });
    try {
      return { resident: await memoryOfAll(system), shares: await ofAll(system, shareOfMemory) };
    } finally {
      await system.stop();
    }
  };
  const first = await start();
  const { resident, shares } = await start();
  return { firstStart: first.resident, atRest: resident, shares };
}

async function measureCalls(load: LoadProcess, options: BenchOptions) {
  await using started = new AsyncDisposableStack();
  const proxy = await statementProxy(testServers().databaseUrl);
  started.defer(proxy.close);
  const selected = selectCases(options);
  return await withBench({ load, databaseServer: proxy.url }, async (bench) => countCalls(bench, proxy, selected));
}

const BEGIN = '<!-- results of npm run bench -->';
const END = '<!-- end of the results -->';

async function write(text: string, growth: Report['growth']): Promise<void> {
  const file = path.join(ROOT, 'docs/performance.md');
  const page = await readFile(file, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  const next = `${before}${BEGIN}\n\n${text}\n\n${END}${after}`;
  await writeFile(file, await formatted(file, next));
  if (growth !== undefined) await writeFile(path.join(ROOT, 'docs/performance-growth.svg'), growthChart(growth));
}

const interrupted = interruption('stopping what was started');
await runScript(async () => {
  const options = benchOptions(process.argv.slice(2));
  const print = (line: string) => console.error(line);
  await using started = new AsyncDisposableStack();
  await findServers();
  started.defer(releaseServers);
  const load = startLoad(interrupted);
  started.defer(load.stop);
  const measured = await measure(load, options, print);
  const calls = await measureCalls(load, options);
  const growth = options.hasGrowth ? await measureGrowth({ load, seconds: options.seconds, print }) : undefined;
  const replicas = options.hasReplicas ? await measureReplicas({ load, ...options, print }) : undefined;
  const model = cpus()[0]?.model ?? 'an unknown processor';
  const report: Report = {
    machine: `${cpus().length} × ${model}`,
    date: new Date().toISOString().slice(0, 10),
    ...measured,
    calls,
    growth,
    replicas,
  };
  const text = render(report);
  console.log(options.isJson ? JSON.stringify(report, undefined, 2) : text);
  if (options.writes) await write(text, growth);
});
