import assert from 'node:assert/strict';
import { type BrokerProbe, openBrokerProbe } from './broker-probe.ts';
import { checkCatalog, checkCatalogChanges, checkCatalogReads } from './checks/catalog.ts';
import { checkCustomFieldReads, checkCustomFields } from './checks/custom-fields.ts';
import { checkConsumedEvents, checkPublishedEvents } from './checks/events.ts';
import { checkEarlierKeys, checkIdentity } from './checks/identity.ts';
import {
  checkCreate,
  checkIncidentChanges,
  checkIncidentReads,
  checkLists,
  checkRepetitions,
} from './checks/incidents.ts';
import { checkEarlierWebhook, checkRefusedDelivery, checkWebhooks } from './checks/webhooks.ts';
import { type Combination, COMBINATIONS } from './combinations.ts';
import type { Fleet } from './fleet.ts';
import { clientOf, type Context, SLUG, type World } from './world.ts';

/** How a combination went. */
export interface Result {
  name: string;
  passed: number;
  /** Each with the name of its check. */
  failures: string[];
  seconds: number;
  /** The check that took the longest. */
  slowest: { name: string; seconds: number };
}

export interface RunOptions {
  combinations: readonly Combination[];
  fleet: Fleet;
  world: World;
  amqpUrl: string;
  namespace: string;
  report: (result: Result) => void;
  signal: AbortSignal;
}

/** In this order: later checks use what earlier ones made. */
const CHECKS: readonly (readonly [string, (context: Context) => Promise<void>])[] = [
  ['keys', checkIdentity],
  ['earlier keys', checkEarlierKeys],
  ['earlier webhook', checkEarlierWebhook],
  ['catalog', checkCatalog],
  ['custom fields', checkCustomFields],
  ['main job', checkCreate],
  ['repetitions', checkRepetitions],
  ['earlier catalog', checkCatalogChanges],
  ['earlier incident', checkIncidentChanges],
  ['lists', checkLists],
  ['webhooks', checkWebhooks],
  ['published events', checkPublishedEvents],
  ['consumed events', checkConsumedEvents],
  ['reading the catalog', checkCatalogReads],
  ['reading custom fields', checkCustomFieldReads],
  ['reading incidents', checkIncidentReads],
  ['refused delivery', checkRefusedDelivery],
];

/** Runs the combinations of one phase one after the other on the same data. Stops the processes. */
export async function runCombinations(options: RunOptions): Promise<Result[]> {
  const { fleet } = options;
  const results: Result[] = [];
  let probe: BrokerProbe | undefined;
  try {
    for (const combination of options.combinations) {
      if (options.signal.aborted) break;
      const startedAt = performance.now();
      const outcome = { passed: 0, failures: [] as string[], slowest: { name: '', seconds: 0 } };
      const check = async (name: string, work: () => Promise<void>): Promise<boolean> => {
        const checkStartedAt = performance.now();
        try {
          await work();
          outcome.passed += 1;
          return true;
        } catch (error) {
          outcome.failures.push(`${name}: ${describe(error)}`);
          return false;
        } finally {
          const seconds = (performance.now() - checkStartedAt) / 1_000;
          if (seconds > outcome.slowest.seconds) outcome.slowest = { name, seconds };
        }
      };
      const isRunning = await check('start', async () => {
        await fleet.assign(combination.releases, combination.beside);
        probe ??= await openBrokerProbe({
          url: options.amqpUrl,
          namespace: options.namespace,
          releases: options.world.releases,
        });
      });
      if (isRunning && probe !== undefined) {
        const own = probe;
        const { world } = options;
        const context: Context = {
          world,
          combination,
          label: `c${COMBINATIONS.indexOf(combination)}`,
          probe,
          releaseOf: (app) => world.releases[combination.releases[app]],
          client: clientOf(world, SLUG, world.tokens.at(-1) ?? ''),
          current: {},
        };
        for (const [name, run] of CHECKS) await check(name, async () => run(context));
        await check('queues', async () => {
          await own.waitUntilConsumed();
          assert.deepEqual(await own.takeDeadLetters(), [], 'dead letters');
        });
        world.previous = context.current;
      }
      await check('processes', async () => assert.deepEqual([...new Set(fleet.takeProblems())], [], 'problems'));
      const seconds = (performance.now() - startedAt) / 1_000;
      const result = { name: combination.name, ...outcome, seconds };
      results.push(result);
      options.report(result);
    }
    return results;
  } finally {
    await probe?.close();
    await fleet.stop();
  }
}

function describe(error: unknown): string {
  const { message, cause } = error as Error;
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  return `${message}${reason}`.slice(0, 2_000);
}
