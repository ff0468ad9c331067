/**
 * `npm run soak -- --minutes 60 --seed 1`: clients work on two processes of each app while one fault follows the other,
 * by the seed. Then compares what clients, feeds and receivers saw. Exits with 1 if something contradicts something else.
 * Needs Redis and an installed RabbitMQ.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { APP_NAMES } from '../../installation/apps.ts';
import { runScript } from '../../installation/run-script.ts';
import { DELIVERIES_A_MINUTE, type FaultySystem, startFaultySystem } from '../history/faulty-system.ts';
import { seededRandom } from '../history/random.ts';
import type { Run } from '../history/run.ts';
import { interruption } from '../interruption.ts';
import { withServers } from '../servers/find-servers.ts';
import { memoryOf } from '../systems/processes.ts';
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

function readOptions(): { minutes: number; seed: number } {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  });
  const number = (flag: 'minutes' | 'seed') => {
    if (!/^[1-9]\d{0,8}$/.test(values[flag])) throw new Error(`--${flag} must be a whole number of at least 1`);
    return Number(values[flag]);
  };
  return { minutes: number('minutes'), seed: number('seed') };
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

function report(run: Run, faults: ReadonlyMap<string, number>): void {
  const outcomes = Map.groupBy(
    run.history.operations,
    ({ method, outcome, code, status }) => `${method} ${outcome} ${code ?? status ?? 'without a response'}`,
  );
  printCounts(
    'Requests',
    [...outcomes].map(([name, { length }]) => [name, length] as const),
  );
  printCounts('Faults', faults);
  printCounts('Met', Object.entries(run.history.met.counts));
}

async function soak({ minutes, seed }: { minutes: number; seed: number }, signal: AbortSignal): Promise<void> {
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
    report(run, faults);
    console.log(`\nMemory in MiB\n  before: ${before}\n  after: ${await memory(system)}`);
    for (const violation of violations.slice(0, SHOWN)) console.log(JSON.stringify(violation, undefined, 2));
    const missing = run.history.met.missing(MET);
    if (missing.length > 0) console.log(`\nnever met: ${missing.join(', ')}`);
    console.log(`\n${violations.length} violations, seed ${seed}`);
    if (violations.length + missing.length > 0) process.exitCode = 1;
  } finally {
    await system.stop();
  }
}

await runScript(async () => {
  const options = readOptions();
  const signal = interruption('ending the run');
  console.log(`${options.minutes} minutes, seed ${options.seed}`);
  await withServers(async () => soak(options, signal));
});
