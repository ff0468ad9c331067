import { setTimeout as delay } from 'node:timers/promises';
import { serviceUnavailable } from '@tocsin/http';

export interface BatchedLookupOptions<Value> {
  /** Finds the values of at most `keysPerQuery` keys in one query. */
  find: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  keysPerQuery: number;
  concurrentQueries: number;
  /** The most keys that wait for a query at the same time. */
  maxWaiting: number;
  /** How long a query slot stays unused after a query that failed or did not find every key; milliseconds. */
  pauseAfterMiss: number;
}

type WaitingKey<Value> = PromiseWithResolvers<Value | undefined>;

/**
 * Looks up keys that come from unauthenticated clients, with a bounded number of queries: at most `concurrentQueries`
 * in each `pauseAfterMiss`, however many keys are unknown. While all query slots are in use, keys wait and are then
 * looked up together.
 * @returns the look-up of one key; it throws DomainError `service_unavailable` when too many keys wait
 */
export function batchedLookup<Value>(
  options: BatchedLookupOptions<Value>,
): (key: string) => Promise<Value | undefined> {
  const waiting = new Map<string, WaitingKey<Value>>();
  let runningQueries = 0;

  const nextBatch = (): Map<string, WaitingKey<Value>> => {
    const batch = new Map([...waiting.entries()].slice(0, options.keysPerQuery));
    for (const key of batch.keys()) waiting.delete(key);
    return batch;
  };

  /** Returns whether every key was found. */
  const lookUp = async (batch: ReadonlyMap<string, WaitingKey<Value>>): Promise<boolean> => {
    try {
      const values = await options.find([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(values.get(key));
      return values.size === batch.size;
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
      return false;
    }
  };

  const lookUpWaiting = async (): Promise<void> => {
    runningQueries += 1;
    while (waiting.size > 0) {
      if (!(await lookUp(nextBatch()))) await delay(options.pauseAfterMiss, undefined, { ref: false });
    }
    runningQueries -= 1;
  };

  return async (key) => {
    const alreadyWaiting = waiting.get(key);
    if (alreadyWaiting !== undefined) return alreadyWaiting.promise;
    if (waiting.size >= options.maxWaiting) throw serviceUnavailable('Too many tokens and hosts are being looked up');
    const added: WaitingKey<Value> = Promise.withResolvers();
    waiting.set(key, added);
    if (runningQueries < options.concurrentQueries) void lookUpWaiting();
    return added.promise;
  };
}
