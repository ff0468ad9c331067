import { SMALL_WRITE } from '@tocsin/schemas';
import { hasBody, isRead, shareExceeded } from '@tocsin/http';
import { boundedCache, type Logger } from '@tocsin/runtime';
import type { Amounts, RequestCounter, WindowUsage } from '../clients/window-counter.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';
import { secondsOf } from './usage-meter.ts';

/**
 * Counts the bytes that workspaces write in an hour, so that what a workspace stores is bounded until it is measured (ADR
 * 114): bodies and responses of writes that succeed, and what services fetch for them.
 */
export interface WrittenBytes {
  /**
   * Counts the request when its response is closed. Reads and deletions write nothing.
   * @throws DomainError `rate_limited` if the workspace has written too much; for a small request, if it is a tenth more
   */
  watch(context: RequestContext, workspaceId: number): void;
  add(workspaceId: number, bytes: number): void;
}

/** Milliseconds. */
const HOUR = 3_600_000;
/** A part of the limit on top of it, for small requests: more than they can write in an hour at the default rate. */
const RESERVE = 0.1;
/** For the last known use of workspaces; about 16,000 of them. */
const KNOWN_BYTES = 4 * 1_048_576;

/** @param options.limit bytes an hour */
export function writtenBytes(options: { counter: RequestCounter; limit: number; log: Logger }): WrittenBytes {
  const { counter, limit, log } = options;
  const limits: Amounts = { requests: Infinity, cost: Infinity, bytes: limit };
  const windows = boundedCache<number, { bytes: number; endsAt: number }>({ bytes: KNOWN_BYTES });

  const add = (workspaceId: number, bytes: number): void => {
    const learn = ({ bytes: written, remaining }: WindowUsage) =>
      windows.set(workspaceId, { bytes: written, endsAt: performance.now() + remaining });
    const usage = counter.count(`written:${workspaceId}`, { length: HOUR, requests: 0, bytes }, limits);
    if (!(usage instanceof Promise)) learn(usage);
    else usage.then(learn, (error: unknown) => log.warn({ err: error }, 'cannot count written bytes'));
  };

  const check = (workspaceId: number, isSmall: boolean): void => {
    const { bytes, endsAt } = windows.get(workspaceId) ?? { bytes: 0, endsAt: 0 };
    const remaining = endsAt - performance.now();
    if (remaining <= 0 || bytes < (isSmall ? 1 + RESERVE : 1) * limit) return;
    const allowed = isSmall ? '' : `, and now only requests of at most ${SMALL_WRITE} bytes`;
    throw shareExceeded(`The writes of this hour have more than ${limit} bytes${allowed}`, {
      reason: 'written_bytes_an_hour',
      seconds: secondsOf(remaining),
    });
  };

  return {
    watch: (context, workspaceId) => {
      const { request, response } = context;
      if (isRead(request) || request.method === 'DELETE') return;
      const length = hasBody(request) ? (request.headers['content-length'] ?? Infinity) : 0;
      check(workspaceId, Number(length) <= SMALL_WRITE);
      const { bytesWritten } = request.socket;
      response.on('close', () => {
        if (response.statusCode >= 400) return;
        add(workspaceId, context.bodyBytes + request.socket.bytesWritten - bytesWritten);
      });
    },
    add,
  };
}
