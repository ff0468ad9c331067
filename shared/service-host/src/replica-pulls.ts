import { Counter, type Logger, type Metrics, outsideDryRun, withTimeout } from '@tocsin/runtime';
import type { ServiceWorker } from './spec.ts';

/** Pulls the changes of replicas from their owners. */
export interface ReplicaPulls extends ServiceWorker {
  /**
   * Runs `pull` and waits for it, as long as a request may wait. A longer one continues in the background. Pulls of the same
   * replica run one after the other; calls that wait for the same next pull share it, so that it begins after each call.
   * @param options.key names the replica
   * @param options.pull must store its progress and end soon after the signal is aborted
   * @returns undefined if the pull failed or is not done yet
   */
  run<Result>(options: {
    key: string;
    pull: (signal: AbortSignal) => Promise<Result | undefined>;
  }): Promise<Result | undefined>;
}

/** Further pulls stop when no request waits for them any more, and continue with the next request. */
const MAX_IN_BACKGROUND = 8;

/** How a request's wait for a pull ended: with the changes, without an answer of the owner, or too late. */
const OUTCOMES = ['completed', 'failed', 'late'] as const;

interface Run {
  result: Promise<unknown>;
  abort: AbortController;
  /** Whether a request has stopped waiting for it. */
  isLate: boolean;
}

/** @param options.deadline milliseconds that a request waits for a pull */
export function replicaPulls(options: { log: Logger; metrics: Metrics; deadline: number }): ReplicaPulls {
  const { log, metrics, deadline } = options;
  const waits = new Counter({
    name: 'tocsin_replica_pulls_total',
    help: 'Requests that waited for changes of a replica, by outcome; after `failed` and `late` the replica may be stale',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  for (const outcome of OUTCOMES) waits.inc({ outcome }, 0);
  const replicas = new Map<string, { running: Run; next: Run | undefined }>();
  const runs = new Set<Run>();

  const start = (key: string, options: { pull: (signal: AbortSignal) => Promise<unknown>; after?: Run }): Run => {
    const abort = new AbortController();
    const work = async () => {
      await options.after?.result;
      try {
        return abort.signal.aborted ? undefined : await options.pull(abort.signal);
      } catch (error) {
        log.warn({ err: error, replica: key }, 'cannot get changes from the owner of a replica; it stays as it is');
        return undefined;
      }
    };
    const run: Run = { result: outsideDryRun(work), abort, isLate: false };
    runs.add(run);
    void run.result.then(() => finish(key, run));
    return run;
  };

  const finish = (key: string, run: Run) => {
    runs.delete(run);
    const replica = replicas.get(key);
    if (replica?.next === undefined) replicas.delete(key);
    else Object.assign(replica, { running: replica.next, next: undefined });
  };

  const join = (key: string, pull: (signal: AbortSignal) => Promise<unknown>): Run => {
    const replica = replicas.get(key);
    if (replica !== undefined) return (replica.next ??= start(key, { pull, after: replica.running }));
    const run = start(key, { pull });
    replicas.set(key, { running: run, next: undefined });
    return run;
  };

  const leave = (run: Run) => {
    run.isLate = true;
    const late = [...runs].filter(({ isLate }) => isLate);
    if (late.length > MAX_IN_BACKGROUND) run.abort.abort();
    return { result: undefined, outcome: 'late' as const };
  };

  return {
    run: async <Result>({ key, pull }: Parameters<ReplicaPulls['run']>[0]) => {
      const run = join(key, pull);
      const ended = run.result.then((result) => ({
        result: result as Result | undefined,
        outcome: result === undefined ? ('failed' as const) : ('completed' as const),
      }));
      const { result, outcome } = await withTimeout(ended, deadline, () => leave(run));
      waits.inc({ outcome });
      return result;
    },
    stop: async () => {
      for (const { abort } of runs) abort.abort();
      await Promise.all([...runs].map(async ({ result }) => result));
    },
  };
}

/** Where a replica continues: after the version and, within later versions, the position that it has. */
export interface PullPosition {
  since: number;
  after: string | undefined;
}

/**
 * Pulls page after page until the last one, or until the signal is aborted.
 * @param options.apply stores a page with its position, in a transaction of its own; its result for the last page is returned
 */
export async function pullPages<Page extends { version: number; next: string | null }, Result>(options: {
  from: PullPosition;
  signal: AbortSignal;
  fetch: (from: PullPosition) => Promise<Page>;
  apply: (page: Page) => Promise<Result>;
}): Promise<Result | undefined> {
  let { from } = options;
  while (!options.signal.aborted) {
    const page = await options.fetch(from);
    if (page.next !== null && page.next === from.after) throw new Error('a page of changes does not advance');
    const result = await options.apply(page);
    if (page.next === null) return result;
    from = { since: page.version, after: page.next };
  }
  return undefined;
}
