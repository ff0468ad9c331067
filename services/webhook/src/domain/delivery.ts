import { type Instant, later } from '@tocsin/runtime';
import { readRetryAfter } from './retry-after.ts';

/** Of one delivery, deferred ones included (contract: Deliveries). */
export const MAX_ATTEMPTS = 8;
/** From queueing; milliseconds, like all durations here. */
export const DEADLINE = 24 * 3_600_000;
/** Deliveries that a workspace may have queued, held ones included. */
export const MAX_QUEUED = 1_000;
/** How long an event's text and its deliveries are kept. */
export const RETENTION = 7 * 24 * 3_600_000;

const FIRST_DELAY = 5_000;
const MAX_DELAY = 3_600_000;

/** Why a request to a receiver did not succeed; also what the API tells of a failed verification. */
export const FAILURE_REASONS = [
  'timeout',
  'connection',
  'tls',
  'status',
  'body_too_large',
  'blocked_address',
  'dns',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** What became of one request. */
export type Outcome =
  | { kind: 'success'; status: number }
  | {
      kind: 'failure';
      reason: FailureReason;
      /** The HTTP status, where there was an answer. */
      status?: number;
      retryAfter?: string | undefined;
      /** The fault lies with us: no route, no name server. It is nothing to hold against the receiver. */
      ours: boolean;
    };

/** How a delivery goes on after an attempt. */
export type Verdict =
  | { kind: 'succeeded' }
  | { kind: 'retry'; at: Instant }
  | { kind: 'failed'; because: 'refused' | 'exhausted' | 'deadline' };

export interface Attempted {
  /** How many attempts were begun, this one included. */
  attempts: number;
  /** How many of them failed, this one included; deferred ones did not. */
  failedAttempts: number;
  deadlineAt: Instant;
  now: Instant;
}

/** The rules of retrying (contract: Deliveries). */
export function judge(outcome: Outcome, attempted: Attempted): Verdict {
  if (outcome.kind === 'success') return { kind: 'succeeded' };
  if (outcome.reason === 'status' && !isRetried(outcome.status)) return { kind: 'failed', because: 'refused' };
  const asked = readRetryAfter(outcome.retryAfter, attempted.now);
  const wait = asked === undefined ? retryDelay(attempted.failedAttempts) : Math.min(asked, MAX_DELAY);
  return retryAt(later(attempted.now, wait), attempted);
}

/** Another attempt at `at`, if there may be one. */
export function retryAt(at: Instant, { attempts, deadlineAt }: Pick<Attempted, 'attempts' | 'deadlineAt'>): Verdict {
  if (attempts >= MAX_ATTEMPTS) return { kind: 'failed', because: 'exhausted' };
  return at < deadlineAt ? { kind: 'retry', at } : { kind: 'failed', because: 'deadline' };
}

/** 5 s after the first failed attempt, then twice as long each time, at most an hour. */
export function retryDelay(failedAttempts: number): number {
  return Math.min(FIRST_DELAY * 2 ** (failedAttempts - 1), MAX_DELAY);
}

const isRetried = (status = 0) =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);
