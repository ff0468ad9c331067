import { boundedCache } from '@tocsin/runtime';

/** What requests use of a window. */
export interface Amounts {
  requests: number;
  cost: number;
  bytes: number;
}

/** The use of a key's current window. */
export interface WindowUsage extends Amounts {
  /** Milliseconds to the window's end. */
  remaining: number;
}

/** Adds to the window of a key. */
export interface Addition extends Amounts {
  key: string;
  /** Of the window; milliseconds. */
  length: number;
}

/** The windows of requests; milliseconds. */
export const MINUTE = 60_000;

/** Counts requests by key in fixed windows. */
export interface RequestCounter {
  /**
   * Counts a request, or as many as the amounts have.
   * @param amounts what it adds to its window besides itself; a key always has windows of the same length, by default a minute
   * @param limits a request that is far below them does not wait until it is counted; without limits, every request waits
   * @returns the use of the window with this request, but without those that come after it
   */
  count(key: string, amounts?: Partial<Omit<Addition, 'key'>>, limits?: Amounts): WindowUsage | Promise<WindowUsage>;
}

/** What is sent together for a key. */
interface Sum extends Amounts {
  readonly length: number;
  /** The requests that wait for the result; what each has used includes what was added before it. */
  readonly waiting: (PromiseWithResolvers<WindowUsage> & { used: Amounts })[];
  /** Whether the result is kept for the next requests. */
  isKept: boolean;
}

/** What the shared count was when it was read last; times are of the clock of `performance`. */
interface Window {
  readonly used: Amounts;
  readonly readAt: number;
  readonly endsAt: number;
}

/** How long requests that do not wait are summed up before they are sent; milliseconds. */
const GATHERING = 20;
/** A window about which less is known waits: another gateway may have counted meanwhile, or it may end; milliseconds. */
const MAX_AGE = 1_000;
const MIN_REMAINING = 500;
/** The parts of a limit below which a request does not wait: of all that is used, and of what is not confirmed yet. */
const USED = 1 / 2;
const UNCONFIRMED = 1 / 128;
/** Of what is known about windows; about 16,000 of them. */
const MEMORY_BYTES = 4 * 1_048_576;

/**
 * Counts in windows that several processes share. A request that is far below its limits is counted a few milliseconds
 * after it was served, together with others of its key. All that this process has counted is in every result; so alone,
 * it is exact, and each further process can exceed a limit by the part that is not confirmed (contract: Limits).
 * @param options `add` adds to at most `maxKeys` windows in one round trip, and returns their use in the same order
 */
export function windowCounter(options: {
  add: (additions: readonly Addition[]) => Promise<readonly WindowUsage[]>;
  maxKeys: number;
}): RequestCounter & { stop(): Promise<void> } {
  const { add, maxKeys } = options;
  const windows = boundedCache<string, Window>({ bytes: MEMORY_BYTES });
  const gathered = new Map<string, Sum>();
  let underWay = new Map<string, Sum>();
  /** Requests wait for what is gathered. */
  let isUrgent = false;

  const sumOf = (key: string, length: number): Sum => {
    const gatheredSum = gathered.get(key);
    if (gatheredSum !== undefined) return gatheredSum;
    const sum: Sum = { length, requests: 0, cost: 0, bytes: 0, waiting: [], isKept: false };
    gathered.set(key, sum);
    return sum;
  };

  /** Returns the use of a window if it is known well enough, and far below the limits. */
  const withoutWaiting = (key: string, sum: Sum, limits: Amounts): WindowUsage | undefined => {
    const window = windows.get(key);
    if (window === undefined) return undefined;
    const now = performance.now();
    if (!isCurrent(window, now)) return undefined;
    const sumUnderWay = underWay.get(key);
    const unconfirmed = sumUnderWay === undefined ? sum : plus(sum, sumUnderWay);
    const used = plus(window.used, unconfirmed);
    const isFarBelow = isWithin(used, limits, USED) && isWithin(unconfirmed, limits, UNCONFIRMED);
    return isFarBelow ? { ...used, remaining: window.endsAt - now } : undefined;
  };

  const sendBatch = async () => {
    const batch = takeBatch(gathered, maxKeys);
    isUrgent &&= gathered.size > 0;
    underWay = batch;
    const readAt = performance.now();
    try {
      const usages = await add(additionsOf(batch));
      for (const [index, [key, sum]] of [...batch].entries()) {
        const usage = usages[index];
        if (usage === undefined) throw new Error('a window has no result');
        if (sum.isKept) windows.set(key, { used: plus(usage, NOTHING), readAt, endsAt: readAt + usage.remaining });
        resolveAll(sum, usage);
      }
    } catch (error) {
      for (const { waiting } of batch.values()) for (const { reject } of waiting) reject(error);
    } finally {
      underWay = new Map();
    }
  };

  const isDue = () => isUrgent || gathered.size >= maxKeys;

  const batches = batchSender({ send: sendBatch, isDue, isEmpty: () => gathered.size === 0 });

  return {
    count: (key, { length = MINUTE, requests = 1, cost = 0, bytes = 0 } = {}, limits) => {
      const sum = sumOf(key, length);
      sum.requests += requests;
      sum.cost += cost;
      sum.bytes += bytes;
      sum.isKept ||= limits !== undefined;
      const usage = limits && withoutWaiting(key, sum, limits);
      if (usage !== undefined) {
        if (isDue()) batches.send();
        else batches.sendLater();
        return usage;
      }
      const waiting = { ...Promise.withResolvers<WindowUsage>(), used: plus(sum, NOTHING) };
      sum.waiting.push(waiting);
      isUrgent = true;
      batches.send();
      return waiting.promise;
    },
    stop: batches.stop,
  };
}

/** Sends one batch after the other. @param options `isDue`: the next batch must not wait for more */
function batchSender(options: { send: () => Promise<void>; isDue: () => boolean; isEmpty: () => boolean }) {
  const { send: sendBatch, isDue, isEmpty } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const sendWhileDue = async () => {
    do await sendBatch();
    while (isDue());
    running = undefined;
    if (!isEmpty()) sendLater();
  };

  const send = () => {
    clearTimeout(timer);
    timer = undefined;
    running ??= sendWhileDue();
  };

  const sendLater = () => {
    // What is gathered while a batch is under way is looked at when it is done.
    if (running === undefined) timer ??= setTimeout(send, GATHERING);
  };

  return {
    send,
    sendLater,
    stop: async (): Promise<void> => {
      clearTimeout(timer);
      while (!isEmpty() || running !== undefined) {
        send();
        await running;
      }
      clearTimeout(timer);
    },
  };
}

const isCurrent = ({ readAt, endsAt }: Window, now: number) => now - readAt <= MAX_AGE && endsAt - now >= MIN_REMAINING;

/** Takes the first sums, at most `count`. */
function takeBatch(gathered: Map<string, Sum>, count: number): Map<string, Sum> {
  const batch = new Map<string, Sum>();
  for (const [key, sum] of gathered) {
    if (batch.size === count) break;
    batch.set(key, sum);
    gathered.delete(key);
  }
  return batch;
}

const additionsOf = (batch: ReadonlyMap<string, Sum>): Addition[] =>
  Array.from(batch, ([key, { length, requests, cost, bytes }]) => ({ key, length, requests, cost, bytes }));

/** @param usage of the window, with the sum */
function resolveAll(sum: Sum, usage: WindowUsage): void {
  const before = minus(usage, sum);
  for (const { used, resolve } of sum.waiting) resolve({ ...plus(before, used), remaining: usage.remaining });
}

const NOTHING: Amounts = { requests: 0, cost: 0, bytes: 0 };

const plus = (one: Amounts, other: Amounts): Amounts => ({
  requests: one.requests + other.requests,
  cost: one.cost + other.cost,
  bytes: one.bytes + other.bytes,
});

const minus = (one: Amounts, other: Amounts): Amounts => ({
  requests: one.requests - other.requests,
  cost: one.cost - other.cost,
  bytes: one.bytes - other.bytes,
});

const isWithin = (used: Amounts, limits: Amounts, part: number) =>
  used.requests <= part * limits.requests && used.cost <= part * limits.cost && used.bytes <= part * limits.bytes;
