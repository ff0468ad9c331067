import { type Instant, inSpan, requestSpan, workerThread } from '@tocsin/runtime';
import {
  type Egress,
  type FailureReason,
  hideDuration,
  isAddressFailure,
  publicOrAllowed,
  type Resolve,
  safeHttp,
  systemResolver,
} from '@tocsin/safe-http';
import type { ReceivedCalendar } from '../domain/calendar.ts';
import type { OnCallAddress, OnCallFailure, OnCallSource, ReadShifts, Shift } from '../domain/on-call.ts';
import { type Get, readOnCalls } from './pagerduty.ts';

/** Milliseconds from the DNS lookup to the last byte, of all requests for a source together. */
const DEFAULT_TIMEOUT = 5_000;
/** Of one response. */
const MAX_BYTES = 1_048_576;
/** Milliseconds for a calendar. The largest ordinary ones take a fifth of it. */
const PARSE_TIMEOUT = 2_000;
const PARSE_MEGABYTES = 128;

export type Source = Pick<OnCallSource, 'kind' | 'scheduleId'> & OnCallAddress;

/** Reads who is on call from calendars and schedules (contract: Catalog, On call). */
export interface OnCallReader {
  /** Reads a source once, without retries. Its failures are results. */
  read(source: Source, now: Instant): Promise<ReadShifts>;
}

export interface OnCallReaderOptions {
  egress: Egress;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
  timeout?: number | undefined;
}

const FAILURES: Record<FailureReason, OnCallFailure['reason']> = {
  ...{ blocked_address: 'address', dns: 'address', proxy: 'address' },
  ...{ body_too_large: 'too_large', connection: 'connection', timeout: 'timeout', tls: 'tls' },
} as const;

const failed = (reason: OnCallFailure['reason'], status: number | null = null) =>
  ({ kind: 'failure', reason, status }) as const;

export function onCallReader(options: OnCallReaderOptions): OnCallReader {
  const { egress, resolve = systemResolver(), ca, timeout = DEFAULT_TIMEOUT } = options;
  const http = safeHttp({ allows: publicOrAllowed(egress.allowed), resolve, ca, proxy: egress.proxy });
  const parse = workerThread<ReceivedCalendar, Shift[] | null>(new URL('./calendar-worker.ts', import.meta.url), {
    timeout: PARSE_TIMEOUT,
    maxMegabytes: PARSE_MEGABYTES,
  });

  /** All requests of one source share its time. */
  const getWithin = (start: number): Get => {
    return async (url, headers) => {
      const left = Math.ceil(timeout - (performance.now() - start));
      if (left <= 0) return failed('timeout');
      const response = await inSpan(requestSpan('GET', url), async () =>
        http.request({
          ...{ url: url.href, method: 'GET', timeout: left, maxBodyBytes: MAX_BYTES },
          prepare: async () => ({
            headers: { 'accept-encoding': 'identity', 'user-agent': 'Tocsin-On-Call/1', ...headers },
          }),
        }),
      );
      if (isAddressFailure(response)) await hideDuration(start, timeout);
      if (response.kind === 'failure') return failed(FAILURES[response.reason], response.status ?? null);
      if (response.kind === 'cancelled') throw new Error('a request for a source was cancelled, which nothing does');
      const { status, headers: received, body } = response;
      if (status < 200 || status > 299) return failed('status', status);
      const encoding = received['content-encoding'] ?? 'identity';
      return encoding.trim().toLowerCase() === 'identity' ? { kind: 'body', body } : failed('content', status);
    };
  };

  const readCalendar = async (url: string, get: Get, now: Instant): Promise<ReadShifts> => {
    const response = await get(new URL(url), { accept: 'text/calendar, text/plain;q=0.5' });
    if (response.kind === 'failure') return response;
    const shifts = await parse({ text: response.body.toString(), now: Date.parse(now) });
    if (shifts === undefined) return failed('too_complex');
    return shifts === null ? failed('content') : { kind: 'read', shifts };
  };

  return {
    read: async (source, now) => {
      const get = getWithin(performance.now());
      return source.kind === 'icalendar'
        ? readCalendar(source.url, get, now)
        : readOnCalls({ ...source, scheduleId: source.scheduleId ?? '' }, get, now);
    },
  };
}
