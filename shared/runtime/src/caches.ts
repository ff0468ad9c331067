import { LRUCache } from 'lru-cache';
import { currentDryRun } from './run-dry.ts';

/** Bytes of heap that an entry itself takes: its key, its links in the list of entries, small values. */
export const ENTRY_BYTES = 256;

/** Estimates the bytes of heap of a JSON value: a character may take two bytes, and an object more than its text. */
export const estimateHeapBytes = (value: object): number => ENTRY_BYTES + 2 * JSON.stringify(value).length;

/** A dry run stores nothing: what it reads may be what it has written. */
class Cache<Key extends string | number, Value extends object | number> extends LRUCache<Key, Value> {
  override set(...entry: Parameters<LRUCache<Key, Value>['set']>): this {
    return currentDryRun() === undefined ? super.set(...entry) : this;
  }
}

/**
 * A least-recently-used cache, limited in bytes. A value larger than the limit is not stored.
 * @param options.sizeOf bytes of a value and its key; default `ENTRY_BYTES`
 */
export function boundedCache<Key extends string | number, Value extends object | number>(options: {
  bytes: number;
  sizeOf?: (value: Value, key: Key) => number;
  /** Milliseconds, counted from the `start` passed with a value, or else from when it is stored. */
  ttl?: number;
  /** Called with a value that is evicted or replaced. */
  dispose?: (value: Value) => void;
}): LRUCache<Key, Value> {
  const { bytes, sizeOf, ttl, dispose } = options;
  return new Cache<Key, Value>({
    maxSize: bytes,
    sizeCalculation: (value, key) => sizeOf?.(value, key) ?? ENTRY_BYTES,
    ...(ttl !== undefined && { ttl }),
    ...(dispose !== undefined && { dispose: (value: Value) => dispose(value) }),
  });
}

/** Caches one value a workspace: the one with the highest version that was set. */
export interface LatestVersionCache<Value> {
  /** `undefined` unless the cached value has exactly this version. */
  get(workspaceId: number, version: number): Value | undefined;
  /** Replaces an older version; does nothing if the cached version is newer. */
  set(workspaceId: number, version: number, value: Value): void;
}

/** @param options.sizeOf bytes of a value */
export function latestVersionCache<Value>(options: {
  bytes: number;
  sizeOf: (value: Value) => number;
}): LatestVersionCache<Value> {
  const entries = boundedCache<number, { version: number; value: Value }>({
    bytes: options.bytes,
    sizeOf: ({ value }) => options.sizeOf(value),
  });
  return {
    get(workspaceId, version) {
      const entry = entries.get(workspaceId);
      return entry?.version === version ? entry.value : undefined;
    },
    set(workspaceId, version, value) {
      if ((entries.peek(workspaceId)?.version ?? version) <= version) entries.set(workspaceId, { version, value });
    },
  };
}
