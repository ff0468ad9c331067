import type { Logger } from './logger.ts';
import { afterCommit } from './run-dry.ts';
import { runInBackground } from './work-context.ts';

/** Work that repeats until it is stopped. Runs never overlap. */
export interface PeriodicTask {
  /** Runs the work at once, or again after the run in progress. A dry run wakes nothing: it leaves no work. */
  wake(): void;
  /** Waits for the run in progress. */
  stop(): Promise<void>;
}

/**
 * Runs `work` every `interval` milliseconds, and again at once while it returns true ("there is more"). A number is the
 * milliseconds until the next run; after `Infinity` only `wake` runs it. A failure is logged; the next run, after
 * `interval` or `retryAfter` milliseconds, is the retry.
 */
export function startPeriodicTask(options: {
  name: string;
  interval: number;
  retryAfter?: number;
  log: Logger;
  work: () => Promise<boolean | number>;
}): PeriodicTask {
  let stopped = false;
  let woken = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pause = options.interval;

  const loop = async () => {
    do {
      woken = false;
      try {
        const next = await options.work();
        pause = typeof next === 'number' ? next : options.interval;
        if (next === true) woken = true;
      } catch (error) {
        options.log.error({ err: error }, `${options.name} failed`);
        pause = options.retryAfter ?? options.interval;
        woken = false;
        break;
      }
    } while (woken && !isStopped());
  };
  // A function, because TypeScript would not expect the flag to change while the loop waits.
  const isStopped = () => stopped;

  // Not for the request that wakes the task.
  const run = () => runInBackground(runNow);

  const runNow = () => {
    if (stopped) return;
    if (running !== undefined) {
      woken = true;
      return;
    }
    clearTimeout(timer);
    // In a later microtask, because the work may call `wake`, which must find `running` set.
    running = Promise.resolve()
      .then(loop)
      .finally(() => {
        running = undefined;
        if (stopped) return;
        // Woken after the loop's last check.
        if (woken) runNow();
        else if (pause < Infinity) timer = setTimeout(run, pause);
      });
  };
  timer = setTimeout(run, options.interval);

  return {
    wake: () => {
      afterCommit(run);
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
