import { type DomainError, shareExceeded } from '@tocsin/http';
import { boundedCache, type Logger, startPeriodicTask } from '@tocsin/runtime';
import type { Amounts, RequestCounter } from '../clients/window-counter.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';

/**
 * Adds up what requests use and only their ends tell: their bytes, those of streams while they flow, and what services add
 * to their cost (contract: Limits).
 */
export interface UsageMeter {
  /** @param workspace `limit` is in bytes a minute; a stream that sends more than that ends */
  watch(context: RequestContext, workspace: { id: number; limit: number }): void;
  addCost(workspaceId: number, cost: number): void;
  /** Takes what a workspace has used and nothing has counted yet, to count it. */
  take(workspaceId: number): Usage;
  stop(): Promise<void>;
}

type Usage = Pick<Amounts, 'cost' | 'bytes'>;

/** Milliseconds between two counts of what streams have sent; a workspace can exceed its limit by what it reads meanwhile. */
const INTERVAL = 200;
/** For usage that is not counted yet; about 16,000 workspaces. */
const PENDING_BYTES = 4 * 1_048_576;

interface Watched {
  readonly context: RequestContext;
  readonly workspaceId: number;
  readonly limit: number;
  /** Bytes that the connection has sent, as far as they are added up. */
  countedBytes: number;
}

const NO_USAGE: Usage = { cost: 0, bytes: 0 };

export const windowOf = (workspaceId: number) => `workspace:${workspaceId}`;

export function usageMeter({ counter, log }: { counter: RequestCounter; log: Logger }): UsageMeter {
  const pending = boundedCache<number, Usage>({ bytes: PENDING_BYTES });
  const open = new Set<Watched>();
  /** Whether the task waits for the next request. */
  let isResting = false;

  const add = (workspaceId: number, { cost = 0, bytes = 0 }: Partial<Usage>): void => {
    const sum = pending.get(workspaceId) ?? NO_USAGE;
    pending.set(workspaceId, { cost: sum.cost + cost, bytes: sum.bytes + bytes });
  };

  /** Adds what was sent since the last time, and returns it. */
  const addSent = (watched: Watched): number => {
    const { bytesWritten } = watched.context.request.socket;
    const bytes = bytesWritten - watched.countedBytes;
    watched.countedBytes = bytesWritten;
    if (bytes > 0) add(watched.workspaceId, { bytes });
    return bytes;
  };

  const take = (workspaceId: number): Usage => {
    const sum = pending.get(workspaceId);
    if (sum === undefined) return NO_USAGE;
    pending.delete(workspaceId);
    return sum;
  };

  const countStreams = async (workspaceId: number, streams: readonly Watched[]): Promise<void> => {
    const { bytes, remaining } = await counter.count(windowOf(workspaceId), { requests: 0, ...take(workspaceId) });
    for (const { context, limit } of streams) if (bytes >= limit) context.wait?.refuse(bytesExceeded(limit, remaining));
  };

  const task = startPeriodicTask({
    name: 'counting the bytes of streams',
    interval: INTERVAL,
    log,
    work: async () => {
      const streams = [...open].filter((watched) => addSent(watched) > 0 && watched.context.wait !== undefined);
      await Promise.all(
        [...Map.groupBy(streams, ({ workspaceId }) => workspaceId)].map(async (of) => countStreams(...of)),
      );
      isResting = open.size === 0;
      return isResting ? Infinity : false;
    },
  });

  return {
    watch: (context, { id, limit }) => {
      const watched = { context, workspaceId: id, limit, countedBytes: context.request.socket.bytesWritten };
      open.add(watched);
      if (isResting) task.wake();
      isResting = false;
      context.response.on('close', () => {
        open.delete(watched);
        addSent(watched);
        add(id, { bytes: context.bodyBytes });
      });
    },
    addCost: (workspaceId, cost) => add(workspaceId, { cost }),
    take,
    stop: task.stop,
  };
}

/** @param remaining milliseconds */
export const bytesExceeded = (limit: number, remaining: number): DomainError =>
  shareExceeded(`The requests and responses of this minute have more than ${limit} bytes`, {
    reason: 'bytes_a_minute',
    seconds: secondsOf(remaining),
  });

export const secondsOf = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1_000));
