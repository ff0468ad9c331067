import { describe, expect, test } from '@jest/globals';
import { afterFailure, overallStatus, type StepStatus } from '../../src/chat/domain/provisioning.ts';

test.each<[StepStatus, StepStatus, string]>([
  ['not_requested', 'not_requested', 'not_requested'],
  ['pending', 'pending', 'pending'],
  ['running', 'pending', 'running'],
  ['succeeded', 'pending', 'pending'],
  ['succeeded', 'running', 'running'],
  ['succeeded', 'succeeded', 'succeeded'],
  ['succeeded', 'not_requested', 'succeeded'],
  ['not_requested', 'succeeded', 'succeeded'],
  ['succeeded', 'failed', 'partial'],
  ['failed', 'not_requested', 'failed'],
  ['failed', 'failed', 'failed'],
  ['pending', 'failed', 'pending'],
])('a channel %s and invitations %s make the provisioning %s', (channel, invitations, whole) => {
  expect(overallStatus([{ status: channel }, { status: invitations }])).toBe(whole);
});

describe('after a failed attempt', () => {
  const fresh = { failures: 0, waits: 0 };

  test('a transient failure is retried with growing delays until the last attempt', () => {
    const waits: (number | undefined)[] = [];
    let counts = fresh;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const { wait, ...after } = afterFailure(counts, { errorCode: 'service_unavailable', isTransient: true });
      waits.push(wait);
      counts = after;
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, undefined]);
  });

  test('a permanent failure is not retried', () => {
    const { wait } = afterFailure(fresh, { errorCode: 'slack_channel_name_taken', isTransient: false });
    expect(wait).toBeUndefined();
  });

  test('a rate limit delays the next attempt and is not a failure', () => {
    const rateLimited = { errorCode: 'rate_limited', isTransient: true, retryAfter: 30 } as const;
    expect(afterFailure(fresh, rateLimited)).toEqual({ failures: 0, waits: 1, wait: 30_000 });
    expect(afterFailure({ failures: 4, waits: 3 }, rateLimited)).toEqual({ failures: 4, waits: 4, wait: 30_000 });
  });

  test('the number and the duration of rate limits are limited', () => {
    const rateLimited = { errorCode: 'rate_limited', isTransient: true, retryAfter: 1 } as const;
    expect(afterFailure({ failures: 0, waits: 20 }, rateLimited).wait).toBeUndefined();
    expect(afterFailure(fresh, { ...rateLimited, retryAfter: 3_600 }).wait).toBeUndefined();
  });
});
