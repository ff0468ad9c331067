import type { Logger } from './logger.ts';

/** Work that repeats until it is stopped, never overlapping itself; `wake` runs it at once. */
export interface Sweep {
  wake(): void;
  /** Waits for a run under way. */
  stop(): Promise<void>;
}

/**
 * Runs `work` every `interval` milliseconds, and again at once for as long as it answers true ("there is more").
 * A failure is logged and the next run is its retry.
 */
export function startSweep(options: {
  name: string;
  interval: number;
  log: Logger;
  work: () => Promise<boolean>;
}): Sweep {
  let stopped = false;
  let woken = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const loop = async () => {
    do {
      woken = false;
      try {
        if (await options.work()) woken = true;
      } catch (error) {
        options.log.error({ err: error }, `${options.name} failed`);
        woken = false;
        break;
      }
    } while (woken && !isStopped());
  };
  // A function, because the flag changes while the loop waits.
  const isStopped = () => stopped;

  const run = () => {
    if (stopped) return;
    if (running !== undefined) {
      woken = true;
      return;
    }
    clearTimeout(timer);
    // In a later turn: the work may wake the sweep, which must find it running.
    running = Promise.resolve()
      .then(loop)
      .finally(() => {
        running = undefined;
        if (stopped) return;
        // Woken between the loop's last look and here.
        if (woken) run();
        else timer = setTimeout(run, options.interval);
      });
  };
  timer = setTimeout(run, options.interval);

  return {
    wake: run,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
