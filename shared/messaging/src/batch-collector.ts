import { runInBackground, withTimeout } from '@tocsin/runtime';
import type { Disposition, IncomingMessage, MessageHandler } from './broker.ts';

/** A batch has at most this many messages, and at most this many bytes unless its first message alone has more. */
export interface BatchBounds {
  messages: number;
  bytes: number;
  /** Batches that are handled at the same time; with more than one, messages have no order. */
  concurrent: number;
  /** Messages that may wait beside those that are handled, so that the next batch is there when one ends; default 0. */
  ahead?: number;
  /** Milliseconds between the beginnings of two batches, unless the next one is full. */
  gathering?: number;
}

/** The messages that a broker should deliver without an answer. */
export const prefetchOf = ({ messages, concurrent, ahead = 0 }: BatchBounds): number => messages * concurrent + ahead;

/** `again`: the message is the first of the next batch. */
export type BatchDisposition = Disposition | 'again';

export interface BatchCollector {
  /** For a subscription. Settles when the message's batch is handled. */
  handle: MessageHandler;
  /** Begins no further batch: messages that wait for one stay where they are in the queue. */
  stop(): void;
}

/**
 * Collects messages into batches, which are handled in the order of the messages. While as many are handled as the bounds
 * allow, and until their time to gather is over, the next one grows; a message after a pause does not wait.
 * @param handleBatch returns what to do with each message, in their order
 */
export function collectBatches(
  handleBatch: (messages: readonly IncomingMessage[]) => Promise<readonly BatchDisposition[]>,
  bounds: BatchBounds,
): BatchCollector {
  let waiting: { message: IncomingMessage; settle: (disposition: Disposition) => void }[] = [];
  let running = 0;
  let stopped = false;
  const { gathering = 0 } = bounds;
  /** For a batch that gathers. */
  let full: PromiseWithResolvers<void> | undefined;
  const isFull = () => waiting.length >= bounds.messages;

  const takeBatch = () => {
    let [count, bytes] = [0, 0];
    for (const { message } of waiting.slice(0, bounds.messages)) {
      bytes += message.body.length;
      if (count > 0 && bytes > bounds.bytes) break;
      count += 1;
    }
    return waiting.splice(0, count);
  };

  const dropLost = () => {
    const { lost = [], kept = [] } = Object.groupBy(waiting, ({ message }) => (message.isLost?.() ? 'lost' : 'kept'));
    waiting = kept;
    for (const { settle } of lost) settle('leave');
  };

  const run = async () => {
    while (waiting.length > 0) {
      const begun = performance.now();
      const batch = takeBatch();
      const dispositions = await handleBatch(batch.map(({ message }) => message)).catch(() => []);
      const again: typeof waiting = [];
      for (const [index, entry] of batch.entries()) {
        const disposition = dispositions[index] ?? 'retry';
        if (disposition !== 'again') entry.settle(disposition);
        else if (stopped) entry.settle('leave');
        else again.push(entry);
      }
      waiting = [...again, ...waiting];
      const remaining = gathering - (performance.now() - begun);
      if (remaining <= 0 || isFull()) continue;
      full = Promise.withResolvers();
      await withTimeout(full.promise, remaining, () => undefined);
      full = undefined;
    }
    running -= 1;
  };

  return {
    handle: async (message) => {
      if (stopped) return 'leave';
      // Otherwise every reconnection to the broker would add the same messages, for as long as a batch waits.
      if (waiting.length >= prefetchOf(bounds)) dropLost();
      const { promise, resolve } = Promise.withResolvers<Disposition>();
      waiting.push({ message, settle: resolve });
      if (isFull()) full?.resolve();
      if (running < bounds.concurrent) {
        running += 1;
        // After the other messages that have arrived together with this one.
        // Not in the trace of this message alone.
        runInBackground(() => setImmediate(() => void run()));
      }
      return promise;
    },
    stop: () => {
      stopped = true;
      for (const { settle } of waiting) settle('leave');
      waiting = [];
      full?.resolve();
    },
  };
}
