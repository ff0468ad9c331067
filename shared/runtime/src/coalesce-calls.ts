import { outsideDryRun } from './run-dry.ts';

/**
 * Runs at most one work for a key at a time. A call during a run waits for the next run, which all calls that wait
 * share: so the work that a call gets the result of has begun after the call.
 */
export interface CoalescedCalls<Key, Result> {
  /** @param work what the call would run; of the calls that share a run, the first one's */
  run(key: Key, work: () => Promise<Result>): Promise<Result>;
}

interface Runs<Result> {
  running: Promise<Result>;
  next: Promise<Result> | undefined;
}

export function coalesceCalls<Key, Result>(): CoalescedCalls<Key, Result> {
  const runsOf = new Map<Key, Runs<Result>>();

  const start = (key: Key, running: Promise<Result>) => {
    runsOf.set(key, { running, next: undefined });
    const end = () => {
      const next = runsOf.get(key)?.next;
      if (next === undefined) runsOf.delete(key);
      else void start(key, next);
    };
    void running.then(end, end);
    return running;
  };

  return {
    run: async (key, work) => {
      const runs = runsOf.get(key);
      if (runs === undefined) return start(key, outsideDryRun(work));
      return (runs.next ??= outsideDryRun(async () => runs.running.then(work, work)));
    },
  };
}
