import { describe, expect, test } from '@jest/globals';
import {
  budget,
  CONTRACT_LIMITS,
  type Destination,
  type RequestKind,
  SCOPES,
  windowEnd,
  windowKeys,
  windowStart,
} from '../src/requests/domain/limits.ts';

type Used = Parameters<typeof budget>[1];
const contractBudget = (kind: RequestKind, used: Used) => budget(kind, used, CONTRACT_LIMITS);

const to = (host: string, options: Partial<Destination> = {}): Destination => ({
  workspaceId: 1,
  host,
  ip: null,
  ...options,
});

describe('windows', () => {
  test.each(SCOPES)('of deliveries: %s', (scope) => {
    const destination = to('h', { ip: '8.8.8.8' });
    const key = windowKeys('delivery', { ...destination, windowShare: 3 }).find(
      (window) => window.scope === `delivery:${scope}`,
    )!;
    const limit = CONTRACT_LIMITS.windows.delivery[scope];
    const used = (count: number) => ({ windows: [{ ...key, used: count }], slots: [] });
    expect(contractBudget('delivery', used(limit - 1)).reachedLimit(destination)).toBeUndefined();
    expect(contractBudget('delivery', used(limit)).reachedLimit(destination)).toEqual({ scope, resource: 'window' });
    expect(contractBudget('check', used(limit)).reachedLimit(destination)).toBeUndefined();
  });

  test('a full window takes precedence over used slots, because it is the longer wait', () => {
    const windows = [{ scope: 'delivery:host', key: 'h', used: 10 }];
    const slots = [to('h'), to('h')];
    expect(contractBudget('delivery', { windows, slots }).reachedLimit(to('h'))).toEqual({
      scope: 'host',
      resource: 'window',
    });
  });
});

test('returns the keys whose limit is reached', () => {
  const remaining = contractBudget('delivery', {
    windows: [
      { scope: 'delivery:host', key: 'full.example', used: 10 },
      { scope: 'delivery:host', key: 'half.example', used: 5 },
      { scope: 'check:host', key: 'checked.example', used: 10 },
    ],
    slots: Array.from({ length: CONTRACT_LIMITS.slots.workspace }, (_, n) => to(`h${n}`, { workspaceId: 7 })),
  });
  expect(remaining.exhaustedKeys('host')).toEqual(['full.example']);
  expect(remaining.exhaustedKeys('workspace')).toEqual(['7']);
  expect(remaining.exhaustedKeys('all')).toEqual([]);
});

test('windows are clock minutes', () => {
  expect(windowStart('2026-11-20T09:30:59.999Z')).toBe('2026-11-20T09:30:00.000Z');
  expect(windowStart('2026-11-20T09:31:00.000Z')).toBe('2026-11-20T09:31:00.000Z');
  expect(windowEnd('2026-11-20T09:59:00.000Z')).toBe('2026-11-20T10:00:00.000Z');
});
