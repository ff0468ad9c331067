import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { inSpan, markFailed, requestSpan } from '@tocsin/runtime';
import {
  type Egress,
  publicOrAllowed,
  type Resolve,
  safeHttp,
  type SafeRequest,
  type SafeResponse,
  systemResolver,
} from '@tocsin/safe-http';
import { z } from 'zod';
import { TrackerFailure, ticketFailure } from './tracker-failure.ts';

interface ApiRequest<Schema extends z.ZodType> {
  method: SafeRequest['method'];
  /** Behind the URL of the tracker, with its query. */
  path: string;
  body?: object;
  /** What is needed of the answer. */
  answer: Schema;
  /** Whether it is about one ticket, so that 404 says that there is none. */
  isOfTicket?: boolean;
  /** The status of refusals whose answer says why. */
  refusal?: number;
}

/** Sends a request to one tracker. @throws TrackerFailure */
export type TrackerApi = <Schema extends z.ZodType>(request: ApiRequest<Schema>) => Promise<z.output<Schema>>;

export interface TrackerClient {
  /** @param deadline a time of `performance.now()` at which its last request ends */
  open(to: { url: string; headers: Readonly<Record<string, string>>; deadline: number }): TrackerApi;
}

/** Milliseconds from the DNS lookup to the last byte of an answer. */
const TIMEOUT = 10_000;
const MAX_BODY_BYTES = 2_097_152;

/** The requests to trackers. They reach only addresses that the operator allows (`safe-http`), and follow no redirect. */
export function trackerClient(options: {
  egress: Egress;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
  timeout?: number | undefined;
}): TrackerClient {
  const { egress, resolve = systemResolver(), ca, timeout = TIMEOUT } = options;
  const http = safeHttp({ allows: publicOrAllowed(egress.allowed), resolve, ca, proxy: egress.proxy });
  return {
    open:
      ({ url: base, headers, deadline }) =>
      async ({ method, path, body, answer, isOfTicket = false, refusal }) => {
        const left = deadline - performance.now();
        if (left <= 0) throw new TrackerFailure('timeout', { isOfTracker: true, isUncertain: false });
        const url = new URL(base.replace(/\/$/, '') + path).href;
        const response = await inSpan(requestSpan(method, new URL(url)), async (span) => {
          const received = await http.request({
            ...{ url, method, maxBodyBytes: MAX_BODY_BYTES, timeout: Math.ceil(Math.min(timeout, left)) },
            readsRefusals: refusal !== undefined,
            prepare: async () => ({
              headers: {
                ...{ accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Tocsin-Trackers/1' },
                ...(body !== undefined && { 'content-type': 'application/json' }),
                ...headers,
              },
              ...(body !== undefined && { body: JSON.stringify(body) }),
            }),
          });
          if (span !== undefined && received.kind !== 'response') markFailed(span, received.kind);
          return received;
        });
        return read(response, { answer, isOfTicket, refusal });
      },
  };
}

function read<Schema extends z.ZodType>(
  response: SafeResponse,
  { answer, isOfTicket, refusal }: { answer: Schema; isOfTicket: boolean; refusal: number | undefined },
): z.output<Schema> {
  if (response.kind === 'cancelled') throw new Error('a request to a tracker was cancelled, but nothing cancels them');
  if (response.kind === 'failure') {
    const { reason, status } = response;
    throw new TrackerFailure(reason, { status, isOfTracker: true, isUncertain: true });
  }
  const { status, headers, body } = response;
  if ((status < 200 || status > 299) && status !== refusal) throw failureOf(status, { headers, isOfTicket });
  const parsed = answer.safeParse(jsonOf(body));
  if (!parsed.success) throw new TrackerFailure('unexpected_answer', { status, isOfTracker: true, isUncertain: true });
  return parsed.data;
}

function failureOf(
  status: number,
  { headers, isOfTicket }: { headers: IncomingHttpHeaders; isOfTicket: boolean },
): TrackerFailure {
  const wait = waitOf(headers);
  // GitHub says 403 for its limits, too.
  const isLimit = status === 429 || (status === 403 && wait !== undefined);
  if (isLimit) return new TrackerFailure('rate_limited', { status, isOfTracker: true, wait });
  if (status === 401 || status === 403 || status === 407)
    return new TrackerFailure('denied', { status, isOfTracker: true });
  if (status === 404 || status === 410 || (status >= 300 && status <= 399))
    return isOfTicket ? ticketFailure('gone', status) : new TrackerFailure('denied', { status, isOfTracker: true });
  if (status === 408 || status >= 500)
    return new TrackerFailure('status', { status, isOfTracker: true, wait, isUncertain: true });
  return ticketFailure('status', status);
}

/** What the tracker asks to wait: seconds, or the second at which its limit is reset once nothing is left of it. */
function waitOf(headers: IncomingHttpHeaders): number | undefined {
  const seconds = numberOf(headers['retry-after']);
  if (seconds !== undefined) return seconds * 1_000;
  const left = headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'];
  const reset = numberOf(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']);
  if (numberOf(left) !== 0 || reset === undefined) return undefined;
  return Math.max(0, reset * 1_000 - Date.now());
}

const numberOf = (text: string | string[] | undefined): number | undefined =>
  typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

function jsonOf(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** An answer of which nothing is needed. */
export const ANYTHING = z.unknown();

/** Whether a header is the HMAC-SHA256 of the body in hexadecimal digits, after a prefix. In constant time. */
export function isHmac(
  header: string | undefined,
  { body, secret, prefix = '' }: { body: Buffer; secret: string; prefix?: string },
): boolean {
  const expected = Buffer.from(prefix + createHmac('sha256', secret).update(body).digest('hex'));
  const given = Buffer.from(header ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
