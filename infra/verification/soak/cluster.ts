import { setTimeout as delay } from 'node:timers/promises';
import { startParts } from '../../embedded/start-parts.ts';
import { startCluster } from '../cluster/start-cluster.ts';
import type { Violation } from '../history/history.ts';
import { seededRandom } from '../history/random.ts';
import type { Run } from '../history/run.ts';
import { DELIVERIES_A_MINUTE, startTestedApps } from '../history/tested-apps.ts';
import { localHarness } from '../systems/local-harness.ts';
import { clusterFaults } from './cluster-faults.ts';
import { type Observation, type Probe, startProbe } from './probe.ts';

const MINUTE = 60_000;
/** Clients of the busy workspace, and their pauses in milliseconds. */
const CLIENTS = 3;
const PAUSE = 100;
/** Milliseconds between two faults, in which everything works. */
const REST = 5_000;

export interface ClusterSoakOptions {
  seed: number;
  /** Whether another fault may begin, after so many. */
  goesOn: (faults: number) => boolean;
  /** Which faults; default: all. */
  only?: (name: string) => boolean;
  print: (line: string) => void;
}

/** Breaks one thing of a cluster after the other, each as often as the others. */
export async function soakCluster({ seed, goesOn, only = () => true, print }: ClusterSoakOptions) {
  const system = await startParts(async (closing, stop) => {
    const cluster = await startCluster();
    closing.push(cluster.stop);
    const harness = await localHarness(2);
    closing.push(harness.remove);
    const apps = await startTestedApps(harness, 2, cluster.env);
    closing.push(apps.stop);
    return { cluster, apps, stop };
  });
  let run: Run | undefined;
  let probe: Probe | undefined;
  try {
    const random = seededRandom(seed);
    const begin = Date.now();
    run = await system.apps.startRun({
      ...{ seed, clients: CLIENTS, pause: PAUSE },
      mayDeclare: () => Math.ceil((DELIVERIES_A_MINUTE * (Date.now() - begin + 1)) / MINUTE),
    });
    probe = startProbe(run, 'quiet');
    const faults = clusterFaults(system.cluster, system.apps).filter(({ name }) => only(name));
    const observations = new Map<string, Observation[]>(faults.map(({ name }) => [name, []]));
    for (let count = 0, left = [...faults]; goesOn(count); count += 1) {
      if (left.length === 0) left = [...faults];
      const fault = random.pick(left);
      left.splice(left.indexOf(fault), 1);
      await delay(REST);
      let from = Infinity;
      await fault.run(() => (from = performance.now()));
      await delay(REST);
      const observation = await probe.observe(from);
      observations.get(fault.name)?.push(observation);
      print(`${new Date().toISOString().slice(11, 19)}  ${fault.name}: ${describe([observation]).join(' | ')}`);
    }
    await run.stop();
    await probe.stop();
    const violations: Violation[] = await run.finish();
    return { run, violations, observations };
  } finally {
    // Their requests end with the system, if it hangs.
    await Promise.all([system.stop(), probe?.stop().then(async () => run?.abandon())]);
  }
}

/** The cells of a row: times, errors of each time, and the least and the most of the others. */
function describe(observations: readonly Observation[]): string[] {
  const range = (valueOf: (observation: Observation) => number, digits = 1) => {
    const values = observations.map(valueOf);
    const [least, most] = [Math.min(...values).toFixed(digits), Math.max(...values).toFixed(digits)];
    return least === most ? least : `${least} to ${most}`;
  };
  const statuses = new Set(observations.flatMap(({ errors }) => [...errors.keys()]));
  const errors = [...statuses]
    .toSorted()
    .map((status) => `${status}: ${range((each) => each.errors.get(status) ?? 0, 0)}`);
  return [
    errors.join(', ') || 'none',
    ...[range(({ refused }) => refused), range(({ slowest }) => slowest), range(({ late }) => late)],
    range(({ lost }) => lost, 0),
  ];
}

const HEAD = ['what died', 'times', 'errors by status', 'creates fail for s', 'slowest s', 'events late by s', 'lost'];

/** A table in Markdown. */
export function tableOf(observations: ReadonlyMap<string, readonly Observation[]>): string {
  const rows = [...observations].filter(([, each]) => each.length > 0);
  const lines = rows.map(([name, each]) => [name, String(each.length), ...describe(each)]);
  return [HEAD, HEAD.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
