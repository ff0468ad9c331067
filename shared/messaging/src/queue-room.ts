import { type QueueDefinition, shortQueueOf } from '@tocsin/schemas';
import type { Broker } from './broker.ts';
import type { BatchLimits } from './outbox-batch.ts';

/** Milliseconds within which its consumer must have taken what waits, as far as the last measurement tells. */
const TAKEN_WITHIN = 250;
/** The shortest measurement of what the consumer takes, which is many messages at a time. */
const MEASURED_FOR = 250;
/** This many may always wait: a consumer takes as many at a time. */
const MIN_BOUND = 100;
/**
 * Milliseconds between two batches while the queue is full, and how much a workspace has in them: 24 events a second, more
 * than its requests cause all the time. So a consumer that is away or slow does not stop what other queues get.
 */
const FULL_INTERVAL = 250;
const FULL_PER_WORKSPACE = 6;

/** Keeps a queue short in which all workspaces wait behind each other (ADR 48). */
export interface QueueRoom {
  /** What the next batch may have; undefined: nothing now. */
  limits(batch: BatchLimits): Promise<BatchLimits | undefined>;
  /** To be told what was published. */
  used(events: readonly { type: string }[]): void;
}

/**
 * The room of one relay. The bound of the queue is what its consumer takes in a fraction of a second. The relay measures it
 * from its own messages; those of other relays make the bound lower. The relay asks the broker again when half of the room
 * that it was told of is used up.
 */
export function queueRoom(broker: Broker, now: () => number = () => performance.now()): QueueRoom {
  /** The short queue of the events; unknown until one was published. */
  let queue: QueueDefinition | undefined;
  let bound = MIN_BOUND;
  let room = 0;
  let fullAt = -Infinity;
  /** The beginning of the measurement, what waited then, and what was published since. */
  let measured = { at: -Infinity, waiting: 0, published: 0 };

  const measure = (waiting: number, keptBelow: number) => {
    const time = now();
    const duration = time - measured.at;
    if (waiting > 0 && duration < MEASURED_FOR) return;
    const taken = measured.waiting + measured.published - waiting;
    const wanted = waiting === 0 ? 2 * bound : Math.round((taken * TAKEN_WITHIN) / duration);
    bound = Math.min(keptBelow, Math.max(MIN_BOUND, wanted));
    measured = { at: time, waiting, published: 0 };
  };

  return {
    limits: async (batch) => {
      const keptBelow = queue?.keptBelow;
      if (queue === undefined || keptBelow === undefined || broker.countWaiting === undefined) return batch;
      if (room < bound / 2) {
        const waiting = (await broker.countWaiting(queue)) ?? 0;
        measure(waiting, keptBelow);
        room = bound - waiting;
      }
      if (room >= bound / 4) return { ...batch, rows: Math.min(batch.rows, room) };
      if (now() - fullAt < FULL_INTERVAL) return undefined;
      fullAt = now();
      return { ...batch, perWorkspace: FULL_PER_WORKSPACE };
    },
    used: (events) => {
      for (const { type } of events) queue ??= shortQueueOf(type);
      room -= events.length;
      measured.published += events.length;
    },
  };
}
