import { type QueueDefinition, shortQueueOf } from '@tocsin/contracts';
import type { Broker } from './broker.ts';
import type { BatchLimits } from './outbox-batch.ts';

/** With less room than this, a relay waits: a consumer takes as many at a time, and small batches cost more. */
const MIN_ROOM = 100;
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

/** For one relay. It asks the broker again when most of the room that it was told of is used up. */
export function queueRoom(broker: Broker, now: () => number = () => performance.now()): QueueRoom {
  /** The short queue of the events; unknown until one was published. */
  let queue: QueueDefinition | undefined;
  let room = 0;
  let fullAt = -Infinity;
  return {
    limits: async (batch) => {
      const keptBelow = queue?.keptBelow;
      if (queue === undefined || keptBelow === undefined || broker.countWaiting === undefined) return batch;
      if (room < keptBelow / 2) room = keptBelow - ((await broker.countWaiting(queue)) ?? 0);
      if (room >= MIN_ROOM) return { ...batch, rows: Math.min(batch.rows, room) };
      if (now() - fullAt < FULL_INTERVAL) return undefined;
      fullAt = now();
      return { ...batch, perWorkspace: FULL_PER_WORKSPACE };
    },
    used: (events) => {
      for (const { type } of events) queue ??= shortQueueOf(type);
      room -= events.length;
    },
  };
}
