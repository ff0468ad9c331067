import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@tocsin/runtime';
import type { Subscription } from './broker.ts';

/**
 * Milliseconds between attempts of a consumer in this process, after a conflict with another transaction or when the
 * database becomes unavailable. Only then are messages requeued or retried by the broker.
 */
export const RETRY_WAITS = [100, 500, 1_000];

/**
 * Milliseconds that consuming is paused while the database is unavailable, by the number of pauses so far; the last
 * value repeats.
 */
const OUTAGE_WAITS = [1_000, 2_000, 5_000, 10_000, 30_000];

/** A subscription that pauses while the database is unavailable. */
export interface PausableSubscription extends Subscription {
  isPaused(): boolean;
  /** Aborted when the subscription stops. */
  readonly stopping: AbortSignal;
  /**
   * Stops consuming for a while, because RabbitMQ's consumer timeout would count a longer wait as a failed delivery.
   * After it, one message tests whether the database works again.
   * @param context for the log
   */
  pause(context: object): void;
  /** To be called when the database has worked. */
  resume(): void;
}

export function pausableSubscription(options: {
  subscribe: (prefetch: number) => Subscription;
  queue: string;
  /** The number of unacknowledged messages while the database works. */
  prefetch: number;
  log: Logger;
}): PausableSubscription {
  const { subscribe, queue, prefetch, log } = options;
  const stopping = new AbortController();
  let paused = false;
  /** The number of consecutive pauses. */
  let outages = 0;

  let subscription = subscribe(prefetch);
  /** Settles when the last resubscription has finished; they run one after the other. */
  let switching = Promise.resolve();
  const resubscribe = (next: { wait: number; prefetch: number; then: () => void }) => {
    const stopped = subscription.stop({ waitForRequeue: true });
    switching = Promise.all([switching, stopped]).then(async () => {
      // `subscription` may be another one now, after an earlier resubscription.
      await subscription.stop({ waitForRequeue: true });
      await pause(next.wait, stopping.signal);
      if (stopping.signal.aborted) return;
      next.then();
      subscription = subscribe(next.prefetch);
    });
  };

  return {
    get active() {
      return !paused && subscription.active;
    },
    isPaused: () => paused,
    stopping: stopping.signal,
    pause: (context) => {
      if (paused || stopping.signal.aborted) return;
      paused = true;
      log[outages === 0 ? 'error' : 'debug'](context, 'the database is unavailable; pausing the consumer');
      const wait = OUTAGE_WAITS[Math.min(outages, OUTAGE_WAITS.length - 1)] ?? 0;
      outages += 1;
      // One message is enough to test the database.
      resubscribe({ wait, prefetch: 1, then: () => (paused = false) });
    },
    resume: () => {
      if (outages === 0 || paused) return;
      outages = 0;
      log.info({ queue }, 'the database works again; resuming the consumer');
      resubscribe({ wait: 0, prefetch, then: () => undefined });
    },
    stop: async () => {
      stopping.abort();
      await subscription.stop();
      await switching;
      await subscription.stop();
    },
  };
}

/** Waits, unless the signal is aborted. */
export const pause = async (milliseconds: number, signal: AbortSignal) =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);
