/**
 * `queue` is what is stored of deliveries: events with their bodies, deliveries with their states, and attempts
 * (contract: Deliveries). This file decides what follows an attempt: success, another attempt after a delay that
 * doubles or that the receiver has named, or failure, when the attempts are used up, at the deadline, or at once. A
 * delivery waits as queued, or as held while its subscription is paused, and ends as succeeded, failed or cancelled.
 * Whoever sends it holds a lease, and only its token can store a result: after a crash the delivery is due again when
 * the lease ends, so a receiver may get it twice. A subscription is locked before its deliveries.
 * `delivery-log-store.ts` has what operators see; the room `deliveries` does the work.
 */
import { type Instant, addMilliseconds } from '@tocsin/runtime';
import { readRetryAfter } from './retry-after.ts';

/** Attempts of one delivery, including deferred ones (contract: Deliveries). */
export const MAX_ATTEMPTS = 8;
/** Counted from when the delivery was queued; milliseconds, like all durations here. */
export const DEADLINE = 24 * 3_600_000;
/** The limits of deliveries that are settings. */
export interface DeliveryLimits {
  /** Deliveries that a workspace may have waiting, queued or held. */
  maxQueued: number;
  /** How long events and their deliveries are kept; milliseconds, longer than the deadline. */
  retention: number;
  /** How long revoked subscriptions are kept, at least as long as their deliveries; milliseconds. */
  revokedRetention: number;
}

const FIRST_DELAY = 5_000;
const MAX_DELAY = 3_600_000;
/** Short: what was wrong here may be mended at any time, and the deadline does not wait. */
const MAX_INTERNAL_DELAY = 300_000;

/** Why a request to a receiver failed; also `details.reason` of `webhook_verification_failed`. */
export const FAILURE_REASONS = [
  'timeout',
  'connection',
  'tls',
  'status',
  'body_too_large',
  'blocked_address',
  'dns',
  'proxy',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/**
 * Why a claimed delivery could not be sent, for a cause inside Tocsin: `undecryptable`, its URL or secret cannot be
 * decrypted with the configured keys; `internal`, anything else. This is no attempt.
 */
export const INTERNAL_FAILURES = ['undecryptable', 'internal'] as const;
export type InternalFailure = (typeof INTERNAL_FAILURES)[number];

/** The result of an attempt as it is kept; `deferred`: no request was sent, because the address's window was full. */
export type AttemptResult = 'succeeded' | 'deferred' | FailureReason;

/** The states of a delivery; `held`: queued, while the subscription is paused. */
export const DELIVERY_STATUSES = ['queued', 'held', 'succeeded', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** How often operators may have one event delivered to one subscription again (contract: Deliveries). */
export const MAX_REDELIVERIES = 10;

/** The outcome of one request to a receiver. */
export type Outcome =
  | { kind: 'success'; status: number }
  | {
      kind: 'failure';
      reason: FailureReason;
      /** The HTTP status, if the response headers arrived. */
      status?: number;
      retryAfter?: string | undefined;
      /** The failure is on our side (no route, no name server) and does not count against the receiver. */
      isLocal: boolean;
    };

/** Why a delivery failed permanently. */
export const DEAD_LETTER_REASONS = ['refused', 'exhausted', 'deadline'] as const;

/** What happens to a delivery after an attempt. */
export type RetryDecision =
  | { kind: 'succeeded' }
  | { kind: 'retry'; at: Instant }
  | { kind: 'failed'; reason: (typeof DEAD_LETTER_REASONS)[number] };

export interface AttemptState {
  /** Attempts started so far, including this one. */
  attempts: number;
  /** Attempts that failed so far, including this one; deferred attempts do not count. */
  failedAttempts: number;
  deadlineAt: Instant;
  now: Instant;
}

/** Applies the retry rules (contract: Deliveries). */
export function decideRetry(outcome: Outcome, attempt: AttemptState): RetryDecision {
  if (outcome.kind === 'success') return { kind: 'succeeded' };
  if (outcome.reason === 'status' && !isRetryable(outcome.status)) return { kind: 'failed', reason: 'refused' };
  const retryAfter = readRetryAfter(outcome.retryAfter, attempt.now);
  const delay = retryAfter === undefined ? retryDelay(attempt.failedAttempts) : Math.min(retryAfter, MAX_DELAY);
  return retryAt(addMilliseconds(attempt.now, delay), attempt);
}

/** A retry at `at`, or a failure if the attempts are used up or `at` is not before the deadline. */
export function retryAt(
  at: Instant,
  { attempts, deadlineAt }: Pick<AttemptState, 'attempts' | 'deadlineAt'>,
): RetryDecision {
  if (attempts >= MAX_ATTEMPTS) return { kind: 'failed', reason: 'exhausted' };
  return at < deadlineAt ? { kind: 'retry', at } : { kind: 'failed', reason: 'deadline' };
}

/** 5 s after the first failed attempt, doubling with each failure, at most one hour. */
export function retryDelay(failedAttempts: number): number {
  return Math.min(FIRST_DELAY * 2 ** (failedAttempts - 1), MAX_DELAY);
}

/** The delay after so many internal failures in a row; at most five minutes. */
export const internalDelay = (failures: number): number => Math.min(retryDelay(failures), MAX_INTERNAL_DELAY);

/** Whether a receiver that answers so may answer otherwise later (contract: Deliveries). */
export const isRetryable = (status = 0) =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);
