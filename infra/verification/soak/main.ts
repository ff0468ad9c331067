/**
 * `npm run soak -- --minutes 60 --seed 1`: clients work on two processes of each app while one fault follows the other,
 * by the seed. Then compares what clients, feeds and receivers saw. Exits with 1 if something contradicts something else.
 * Needs Redis and an installed RabbitMQ. With `--cluster`, machines of a cluster break (`make cluster`), and a table shows
 * what clients saw of each.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { APP_NAMES } from '../../installation/apps.ts';
import { runScript } from '../../installation/run-script.ts';
import { type FaultySystem, startFaultySystem } from '../history/faulty-system.ts';
import type { Violation } from '../history/history.ts';
import { seededRandom } from '../history/random.ts';
import type { Run } from '../history/run.ts';
import { DELIVERIES_A_MINUTE } from '../history/tested-apps.ts';
import { interruption } from '../interruption.ts';
import { withServers } from '../servers/find-servers.ts';
import { memoryOf } from '../systems/processes.ts';
import { soakCluster, tableOf } from './cluster.ts';
import { soakFaults } from './faults.ts';

const MINUTE = 60_000;
/** Clients of the busy workspace, and their pauses in milliseconds. */
const CLIENTS = 8;
const PAUSE = 20;
/** Milliseconds between two faults, at most. */
const REST = 8_000;
const SHOWN = 10;
/** What every run meets that is long enough. */
const MET = [
  ...['a replay', 'idempotency_in_progress', 'idempotency_key_reused', 'precondition_failed', 'not_found'],
  ...['an unknown outcome', 'a request that its client cut', 'a resumed stream', 'a repeated delivery'],
];

interface Options {
  minutes: number;
  seed: number;
  cluster: boolean;
  /** Faults of a cluster, by their names. */
  only: RegExp;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      cluster: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  });
  const number = (flag: 'minutes' | 'seed') => {
    if (!/^[1-9]\d{0,8}$/.test(values[flag])) throw new Error(`--${flag} must be a whole number of at least 1`);
    return Number(values[flag]);
  };
  return { minutes: number('minutes'), seed: number('seed'), cluster: values.cluster, only: new RegExp(values.only) };
}

/** MiB of each process. */
async function memory(system: FaultySystem): Promise<string> {
  const rows: string[] = [];
  for (const [app, pids] of await system.processes()) {
    const used = await Promise.all(pids.map(memoryOf));
    rows.push(`${app} ${used.map((each) => each?.now.toFixed(0)).join(' and ')}`);
  }
  return rows.join(', ');
}

async function breakThings(system: FaultySystem, options: { seed: number; until: number; signal: AbortSignal }) {
  const random = seededRandom(options.seed);
  const faults = soakFaults(system, random);
  const done = new Map<string, number>();
  while (Date.now() < options.until && !options.signal.aborted) {
    const { name, run } = random.pick(faults);
    console.log(`${new Date().toISOString().slice(11, 19)}  ${name}`);
    done.set(name, (done.get(name) ?? 0) + 1);
    await run();
    await delay(random.int(REST));
  }
  for (const app of APP_NAMES) await system.isComplete(app);
  return done;
}

function printCounts(title: string, counts: Iterable<readonly [string, number]>): void {
  console.log(`\n${title}`);
  for (const [name, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`  ${String(count).padStart(8)}  ${name}`);
}

function report(run: Run): void {
  const outcomes = Map.groupBy(
    run.history.operations,
    ({ method, outcome, code, status }) => `${method} ${outcome} ${code ?? status ?? 'without a response'}`,
  );
  printCounts(
    'Requests',
    [...outcomes].map(([name, { length }]) => [name, length] as const),
  );
  printCounts('Met', Object.entries(run.history.met.counts));
}

function judge(violations: readonly Violation[], seed: number): void {
  for (const violation of violations.slice(0, SHOWN)) console.log(JSON.stringify(violation, undefined, 2));
  console.log(`\n${violations.length} violations, seed ${seed}`);
  if (violations.length > 0) process.exitCode = 1;
}

async function soakOnCluster({ minutes, seed, only }: Options, signal: AbortSignal): Promise<void> {
  let until: number | undefined;
  const goesOn = () => Date.now() < (until ??= Date.now() + minutes * MINUTE) && !signal.aborted;
  const { run, violations, observations } = await soakCluster({
    ...{ seed, goesOn, print: console.log },
    only: (name) => only.test(name),
  });
  report(run);
  console.log(`\n${tableOf(observations)}`);
  const isLost = [...observations.values()].flat().some(({ lost }) => lost > 0);
  if (isLost) process.exitCode = 1;
  judge(violations, seed);
}

async function soak({ minutes, seed }: Options, signal: AbortSignal): Promise<void> {
  const system = await startFaultySystem(2);
  try {
    const begin = Date.now();
    const run = await system.startRun({
      ...{ seed, clients: CLIENTS, pause: PAUSE },
      mayDeclare: () => Math.ceil((DELIVERIES_A_MINUTE * (Date.now() - begin + 1)) / MINUTE),
    });
    const before = await memory(system);
    const faults = await breakThings(system, { seed, until: begin + minutes * MINUTE, signal });
    await run.stop();
    const violations = await run.finish();
    report(run);
    printCounts('Faults', faults);
    console.log(`\nMemory in MiB\n  before: ${before}\n  after: ${await memory(system)}`);
    const missing = run.history.met.missing(MET);
    if (missing.length > 0) console.log(`\nnever met: ${missing.join(', ')}`);
    judge(violations, seed);
    if (missing.length > 0) process.exitCode = 1;
  } finally {
    await system.stop();
  }
}

await runScript(async () => {
  const options = readOptions();
  const signal = interruption('ending the run');
  console.log(`${options.minutes} minutes, seed ${options.seed}`);
  await withServers(async () => (options.cluster ? soakOnCluster : soak)(options, signal));
});
// The clients of a run that failed go on.
process.exit();
