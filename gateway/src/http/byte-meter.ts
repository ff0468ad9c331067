import { type DomainError, shareExceeded } from '@tocsin/http';
import { boundedCache, type Logger, startPeriodicTask } from '@tocsin/runtime';
import type { RequestCounter } from '../clients/window-counter.ts';
import type { RequestContext } from './request-context.ts';

/** Counts the bytes of requests and responses, those of streams while they flow (contract: Limits). */
export interface ByteMeter {
  /** @param workspace `limit` is in bytes a minute; a stream that sends more than that ends */
  watch(context: RequestContext, workspace: { id: number; limit: number }): void;
  /** Takes the bytes of a workspace that were not counted yet, to count them. */
  take(workspaceId: number): number;
  stop(): Promise<void>;
}

/** Milliseconds between two counts of what streams have sent; a workspace can exceed its limit by what it reads meanwhile. */
const INTERVAL = 200;
/** For bytes that are not counted yet; about 16,000 workspaces. */
const PENDING_BYTES = 4 * 1_048_576;

interface Watched {
  readonly context: RequestContext;
  readonly workspaceId: number;
  readonly limit: number;
  /** Bytes that the connection has sent, as far as they are added up. */
  sent: number;
}

export const windowOf = (workspaceId: number) => `workspace:${workspaceId}`;

export function byteMeter({ counter, log }: { counter: RequestCounter; log: Logger }): ByteMeter {
  const pending = boundedCache<number, { bytes: number }>({ bytes: PENDING_BYTES });
  const open = new Set<Watched>();

  const add = (workspaceId: number, bytes: number): void => {
    const sum = pending.get(workspaceId);
    if (sum === undefined) pending.set(workspaceId, { bytes });
    else sum.bytes += bytes;
  };

  /** Adds what was sent since the last time, and returns it. */
  const addSent = (watched: Watched): number => {
    const { bytesWritten } = watched.context.request.socket;
    const bytes = bytesWritten - watched.sent;
    watched.sent = bytesWritten;
    if (bytes > 0) add(watched.workspaceId, bytes);
    return bytes;
  };

  const take = (workspaceId: number): number => {
    const sum = pending.get(workspaceId);
    const bytes = sum?.bytes ?? 0;
    if (sum !== undefined) sum.bytes = 0;
    return bytes;
  };

  const countStreams = async (workspaceId: number, streams: readonly Watched[]): Promise<void> => {
    const amounts = { requests: 0, cost: 0, bytes: take(workspaceId) };
    const { bytes, remaining } = await counter.count(windowOf(workspaceId), amounts);
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
      return false;
    },
  });

  return {
    watch: (context, { id, limit }) => {
      const watched = { context, workspaceId: id, limit, sent: context.request.socket.bytesWritten };
      open.add(watched);
      context.response.on('close', () => {
        open.delete(watched);
        addSent(watched);
        add(id, context.bodyBytes);
      });
    },
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
