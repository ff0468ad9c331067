/** What is remembered of an event. */
export interface HandledEvent {
  id: string;
  type: string;
  /** Only with `order: 'revision'`: the resource, such as `incident:17`, and the revision that the event has. */
  resource: string | undefined;
  revision: number | undefined;
}

/** `handled`: now. `duplicate`: the event was handled before. `outdated`: a newer one of the same resource was. */
export type Outcome = 'handled' | 'duplicate' | 'outdated';

/**
 * Remembers which events were handled. An implementation decides together with the effects of the handler: it records
 * the event if, and only if, `work` succeeds. With a database that is one transaction, which `work` receives, so that
 * each event has its effect exactly once although it may be delivered repeatedly.
 */
export interface Remember<Transaction = undefined> {
  /**
   * Calls `work` unless the event is a duplicate or outdated: its revision is smaller than the last one of its resource.
   * Rejects if `work` does, and then records nothing. After `HandlerGivenUp` the handler may still use the transaction.
   * Never called concurrently for the same event, nor, with `order: 'revision'`, for the same resource by one consumer;
   * other processes may call it at the same time.
   */
  once(event: HandledEvent, work: (transaction: Transaction) => Promise<void>): Promise<Outcome>;
}

/**
 * Remembers in the memory of this process: a restart forgets everything.
 * @param options.max the number of events, and of resources, that are remembered; default 10,000
 */
export function rememberInMemory({ max = 10_000 }: { max?: number } = {}): Remember {
  if (!Number.isSafeInteger(max) || max < 1) throw new TypeError('max must be a positive integer');
  const ids = new Map<string, true>();
  const revisions = new Map<string, number>();
  /** The entries are in the order of their last use; the oldest goes first. */
  const put = <Value>(map: Map<string, Value>, key: string, value: Value) => {
    map.delete(key);
    map.set(key, value);
    const [oldest] = map.keys();
    if (map.size > max && oldest !== undefined) map.delete(oldest);
  };
  return {
    once: async ({ id, resource, revision }, work) => {
      if (ids.has(id)) return 'duplicate';
      const isOrdered = resource !== undefined && revision !== undefined;
      if (isOrdered && revision < (revisions.get(resource) ?? -Infinity)) {
        put(ids, id, true);
        return 'outdated';
      }
      await work(undefined);
      put(ids, id, true);
      if (isOrdered) put(revisions, resource, revision);
      return 'handled';
    },
  };
}
