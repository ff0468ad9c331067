import { describe, expect, test } from '@jest/globals';
import { afterSetback, overallStatus, type StepStatus } from '../src/domain/provisioning.ts';

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
])('a channel %s with invitations %s is %s as a whole', (channel, invitations, whole) => {
  expect(overallStatus([{ status: channel }, { status: invitations }])).toBe(whole);
});

describe('after an attempt that did not succeed', () => {
  const fresh = { failures: 0, waits: 0 };

  test('one that may pass is tried again, later each time, and given up in the end', () => {
    const waits: (number | undefined)[] = [];
    let counts = fresh;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const { wait, ...after } = afterSetback(counts, { errorCode: 'service_unavailable', passing: true });
      waits.push(wait);
      counts = after;
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, undefined]);
  });

  test('one that cannot pass is given up at once', () => {
    const { wait } = afterSetback(fresh, { errorCode: 'slack_channel_name_taken', passing: false });
    expect(wait).toBeUndefined();
  });

  test('being told to wait is obeyed, and is no failure', () => {
    const told = { errorCode: 'rate_limited', passing: true, retryAfter: 30 } as const;
    expect(afterSetback(fresh, told)).toEqual({ failures: 0, waits: 1, wait: 30_000 });
    expect(afterSetback({ failures: 4, waits: 3 }, told)).toEqual({ failures: 4, waits: 4, wait: 30_000 });
  });

  test('but not for ever', () => {
    const told = { errorCode: 'rate_limited', passing: true, retryAfter: 1 } as const;
    expect(afterSetback({ failures: 0, waits: 20 }, told).wait).toBeUndefined();
    expect(afterSetback(fresh, { ...told, retryAfter: 3_600 }).wait).toBeUndefined();
  });
});
