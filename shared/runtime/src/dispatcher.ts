import type { Logger } from './logger.ts';
import { startPeriodicTask } from './periodic-task.ts';
import { withTimeout } from './with-timeout.ts';

/** Processes a queue in the database, several items concurrently. */
export interface Dispatcher {
  /** Polls the queue at once. */
  wake(): void;
  /** Polls the queue at once, and claims without asking first whether an item is due: the caller has just added one. */
  claimNow(): void;
  /**
   * Stops claiming and waits `drainTimeout` for the runs in progress, then aborts them. Runs that have not ended two
   * seconds later are abandoned.
   */
  stop(): Promise<void>;
}

export interface DispatcherOptions<Claim> {
  /** For log messages: "dispatching webhooks". */
  name: string;
  /** Milliseconds between polls if nothing wakes the dispatcher. */
  interval: number;
  log: Logger;
  /** Milliseconds until the next item is due, negative if it is overdue; `undefined` if there is none. */
  nextDue: () => Promise<number | undefined>;
  /** Claims some of the due items under a lease, so that no other dispatcher gets them. */
  claim: (inProgress: number) => Promise<readonly Claim[]>;
  /**
   * Processes an item. If it throws, the item can be claimed again when its lease expires.
   * @param stopping is aborted when the process cannot wait any longer: it has 25 seconds to stop
   */
  run: (claim: Claim, stopping: AbortSignal) => Promise<void>;
  /** Milliseconds that runs in progress may take after `stop`; default ten seconds. */
  drainTimeout?: number;
}

/** Milliseconds until it looks again for items that are due and could not be claimed. */
const RETRY = 1_000;
const DRAIN_TIMEOUT = 10_000;
/** Milliseconds that runs have to end after they are aborted. */
const ABORT_TIMEOUT = 2_000;

/**
 * Starts processing due items. Any number of dispatchers may run; items of one that crashed are claimed again when
 * their lease expires. Polls when it is woken, when a run ends, when the next item is due, and every `interval`.
 */
export function startDispatcher<Claim>(options: DispatcherOptions<Claim>): Dispatcher {
  const { name, interval, log, nextDue, claim, run, drainTimeout = DRAIN_TIMEOUT } = options;
  const stopping = new AbortController();
  const inProgress = new Set<Promise<void>>();
  let isDue = false;

  const start = (claimed: Claim) => {
    const running = run(claimed, stopping.signal)
      .catch((error: unknown) => log.error({ err: error }, `${name} was interrupted`))
      .finally(() => {
        inProgress.delete(running);
        task.wake();
      });
    inProgress.add(running);
  };

  const poll = async (): Promise<boolean | number> => {
    if (isDue) {
      isDue = false;
      // The next poll finds out when the next item is due.
      (await claim(inProgress.size)).forEach(start);
      return true;
    }
    const wait = await nextDue();
    // Other processes may add items that are due earlier.
    if (wait === undefined || wait > interval) return false;
    if (wait > 0) return wait;
    const claims = await claim(inProgress.size);
    claims.forEach(start);
    return claims.length > 0 || Math.min(RETRY, interval);
  };

  const task = startPeriodicTask({ name, interval, retryAfter: RETRY, log, work: poll });
  return {
    wake: task.wake,
    claimNow: () => {
      isDue = true;
      task.wake();
    },
    stop: async () => {
      await task.stop();
      if (await areSettledWithin(inProgress, drainTimeout)) return;
      stopping.abort(new Error('the process is stopping'));
      if (await areSettledWithin(inProgress, ABORT_TIMEOUT)) return;
      log.error({ left: inProgress.size }, `${name} did not end in time; it is claimed again when its lease expires`);
    },
  };
}

/** Whether all work settles within so many milliseconds. */
const areSettledWithin = async (work: ReadonlySet<Promise<void>>, milliseconds: number): Promise<boolean> =>
  withTimeout(
    Promise.all(work).then(() => true),
    milliseconds,
    () => false,
  );
