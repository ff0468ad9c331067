import { LRUCache } from 'lru-cache';

/** Values that are looked up often and must never be older than `ttl` milliseconds. */
export interface FreshCache<Value> {
  get(key: string): Promise<Value | undefined>;
  /** Forgets everything, and with it what is being looked up at this moment. */
  drop(): void;
}

/**
 * Concurrent look-ups of one key are one. What is not found is not remembered: a thing made now is found by the next
 * request. A value's age counts from before its look-up, since that is when it was true.
 */
export function freshCache<Value extends object>(options: {
  size: number;
  ttl: number;
  find: (key: string) => Promise<Value | undefined>;
}): FreshCache<Value> {
  const values = new LRUCache<string, Value>({ max: options.size, ttl: options.ttl });
  let pending = new Map<string, Promise<Value | undefined>>();

  const find = async (key: string): Promise<Value | undefined> => {
    const generation = pending;
    const start = performance.now();
    try {
      const value = await options.find(key);
      // After a drop this may be what the drop was meant to forget.
      if (value !== undefined && generation === pending) values.set(key, value, { start });
      return value;
    } finally {
      generation.delete(key);
    }
  };

  return {
    get: async (key) => {
      const known = values.get(key) ?? pending.get(key);
      if (known !== undefined) return known;
      const found = find(key);
      pending.set(key, found);
      return found;
    },
    drop: () => {
      values.clear();
      pending = new Map();
    },
  };
}
