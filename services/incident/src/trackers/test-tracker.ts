import { invalidState, shareExceeded } from '@tocsin/http';
import { currentDryRun, type Keyring } from '@tocsin/runtime';
import type { Knex } from '@tocsin/postgres';
import { openAddress } from './address.ts';
import { KINDS_BY_NAME } from './clients/kinds/index.ts';
import type { TrackerClient } from './clients/tracker-api.ts';
import { TrackerFailure } from './clients/tracker-failure.ts';
import { getTracker } from './tracker-commands.ts';
import { trackerStore } from './store/tracker-store.ts';

export interface TestDependencies {
  database: Knex;
  trackerKeys: Keyring;
  trackerClient: TrackerClient;
  /** The workspaces whose test this process runs. */
  runningTests: Set<number>;
}

/** Why tickets cannot be made; null: they can. */
export type TestOutcome = { reason: string; status: number | null } | null;

/** Milliseconds for all requests of a test. */
const DEADLINE = 15_000;

/**
 * Asks the tracker whether it knows the project, and makes nothing. A dry run asks nobody.
 * @throws DomainError `not_found`, `invalid_resource_state` if it is archived, `rate_limited` during another test
 */
export async function testTracker(
  { database, trackerKeys, trackerClient, runningTests }: TestDependencies,
  { workspaceId, id }: { workspaceId: number; id: number },
): Promise<TestOutcome> {
  const tracker = await getTracker(database, workspaceId, id);
  const sealed = await trackerStore(database, workspaceId).findAddress(id);
  if (sealed === undefined) throw invalidState('The tracker is archived');
  if (currentDryRun() !== undefined) return null;
  const address = openAddress(trackerKeys, id, sealed);
  if (address === undefined) return { reason: 'undecryptable', status: null };
  if (runningTests.has(workspaceId))
    throw shareExceeded('Another test of the workspace is under way; try again afterwards', {
      reason: 'tracker_tests',
    });
  runningTests.add(workspaceId);
  try {
    const kind = KINDS_BY_NAME[tracker.kind];
    const headers = kind.headers(address.credential);
    await kind.check(
      trackerClient.open({ url: address.url, headers, deadline: performance.now() + DEADLINE }),
      tracker,
    );
    return null;
  } catch (error) {
    if (!(error instanceof TrackerFailure)) throw error;
    return { reason: error.reason, status: error.options.status ?? null };
  } finally {
    runningTests.delete(workspaceId);
  }
}
