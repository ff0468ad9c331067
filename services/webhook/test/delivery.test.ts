import { describe, expect, test } from '@jest/globals';
import { addMilliseconds } from '@tocsin/runtime';
import {
  type FailureReason,
  decideRetry,
  internalDelay,
  type Outcome,
  retryAt,
  retryDelay,
} from '../src/queue/domain/delivery.ts';

const NOW = '2026-11-20T09:30:00.000Z';
const HOUR = 3_600_000;
const first = { attempts: 1, failedAttempts: 1, deadlineAt: addMilliseconds(NOW, 24 * HOUR), now: NOW };

const refused = (status: number, retryAfter?: string): Outcome => ({
  kind: 'failure',
  reason: 'status',
  status,
  retryAfter,
  isLocal: false,
});
const failed = (reason: FailureReason, isLocal = false): Outcome => ({ kind: 'failure', reason, isLocal });

test('the delay starts at 5 s, doubles with each failure and ends at an hour, or at five minutes if we failed', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8].map((n) => retryDelay(n) / 1_000)).toEqual([5, 10, 20, 40, 80, 160, 320, 640]);
  expect(retryDelay(11)).toBe(HOUR);
  expect(retryDelay(200)).toBe(HOUR);
  expect([1, 6, 7, 200].map((n) => internalDelay(n) / 1_000)).toEqual([5, 160, 300, 300]);
});

test.each([408, 425, 429, 500, 501, 502, 503, 504, 599])('%d is retried', (status) => {
  expect(decideRetry(refused(status), first)).toEqual({ kind: 'retry', at: addMilliseconds(NOW, 5_000) });
});

test.each([101, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 405, 409, 410, 413, 418, 422, 451, 499, 600, 999])(
  '%d fails the delivery',
  (status) => expect(decideRetry(refused(status), first)).toEqual({ kind: 'failed', reason: 'refused' }),
);

test.each(['timeout', 'connection', 'tls', 'body_too_large', 'blocked_address', 'dns'] as const)(
  'a failure without a response (%s) is retried',
  (reason) => {
    expect(decideRetry(failed(reason), first)).toEqual({ kind: 'retry', at: addMilliseconds(NOW, 5_000) });
    expect(decideRetry(failed(reason, true), first)).toEqual({ kind: 'retry', at: addMilliseconds(NOW, 5_000) });
  },
);

test('any 2xx is a success', () => {
  expect(decideRetry({ kind: 'success', status: 299 }, first)).toEqual({ kind: 'succeeded' });
});

describe('Retry-After', () => {
  test.each([
    ['1', 1_000],
    ['3600', HOUR],
    ['3601', HOUR],
    ['99999999999999999999', HOUR],
    ['Sat, 21 Nov 2026 09:30:00 GMT', HOUR],
  ])('%s replaces the delay, up to an hour', (header, wait) => {
    expect(decideRetry(refused(503, header), { ...first, failedAttempts: 4 })).toEqual({
      kind: 'retry',
      at: addMilliseconds(NOW, wait),
    });
  });

  test.each(['0', '-1', '2.5', 'later', 'Fri, 20 Nov 2026 09:29:00 GMT'])('%s does not change the delay', (header) => {
    expect(decideRetry(refused(429, header), { ...first, failedAttempts: 3 })).toEqual({
      kind: 'retry',
      at: addMilliseconds(NOW, 20_000),
    });
  });

  test('does not make a final status retryable', () => {
    expect(decideRetry(refused(404, '5'), first).kind).toBe('failed');
  });
});

test('the eighth attempt is the last', () => {
  expect(decideRetry(refused(500), { ...first, attempts: 7, failedAttempts: 7 }).kind).toBe('retry');
  expect(decideRetry(refused(500), { ...first, attempts: 8, failedAttempts: 8 })).toEqual({
    kind: 'failed',
    reason: 'exhausted',
  });
  expect(decideRetry({ kind: 'success', status: 200 }, { ...first, attempts: 8 }).kind).toBe('succeeded');
});

test('there is no attempt at or after the deadline', () => {
  const almost = { ...first, deadlineAt: addMilliseconds(NOW, 5_001) };
  expect(decideRetry(refused(500), almost).kind).toBe('retry');
  expect(decideRetry(refused(500), { ...almost, deadlineAt: addMilliseconds(NOW, 5_000) })).toEqual({
    kind: 'failed',
    reason: 'deadline',
  });
});

test('a deferred attempt has the same limits', () => {
  expect(retryAt(addMilliseconds(NOW, 1_000), first)).toEqual({ kind: 'retry', at: addMilliseconds(NOW, 1_000) });
  expect(retryAt(addMilliseconds(NOW, 1_000), { ...first, attempts: 8 })).toEqual({
    kind: 'failed',
    reason: 'exhausted',
  });
});
