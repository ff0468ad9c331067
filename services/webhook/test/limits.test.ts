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

/** How many requests to the destinations that `make` returns are within the limits, and which limit is reached then. */
function capacity(make: (n: number) => Destination, used: Used, kind = 'delivery' as const) {
  const remaining = contractBudget(kind, used);
  let n = 0;
  for (; remaining.reachedLimit(make(n)) === undefined; n += 1) remaining.take(make(n));
  return { n, limit: remaining.reachedLimit(make(n)) };
}

describe('slots', () => {
  const empty = { windows: [], slots: [] };

  test('16 in total', () => {
    expect(capacity((n) => to(`h${n}`, { workspaceId: n }), empty)).toEqual({
      n: 16,
      limit: { scope: 'all', resource: 'slots' },
    });
  });

  test('8 per workspace', () => {
    expect(capacity((n) => to(`h${n}`), empty)).toEqual({ n: 8, limit: { scope: 'workspace', resource: 'slots' } });
  });

  test('2 per address, whatever the host names', () => {
    const same = (n: number) => to(`h${n}`, { workspaceId: n, ip: '8.8.8.8' });
    expect(capacity(same, empty)).toEqual({ n: 2, limit: { scope: 'ip', resource: 'slots' } });
  });

  test('2 per host while its address is unknown', () => {
    expect(capacity((n) => to('h', { workspaceId: n }), empty)).toEqual({
      n: 2,
      limit: { scope: 'host', resource: 'slots' },
    });
  });

  test('slots in use count', () => {
    const slots = Array.from({ length: 15 }, (_, n) => to(`other${n}`, { workspaceId: 100 + n }));
    expect(capacity((n) => to(`h${n}`, { workspaceId: n }), { windows: [], slots }).n).toBe(1);
  });
});

describe('windows', () => {
  test.each(SCOPES)('of deliveries: %s', (scope) => {
    const destination = to('h', { ip: '8.8.8.8' });
    const key = windowKeys('delivery', destination).find((window) => window.scope === `delivery:${scope}`)!;
    const limit = CONTRACT_LIMITS.windows.delivery[scope];
    const used = (count: number) => ({ windows: [{ ...key, used: count }], slots: [] });
    expect(contractBudget('delivery', used(limit - 1)).reachedLimit(destination)).toBeUndefined();
    expect(contractBudget('delivery', used(limit)).reachedLimit(destination)).toEqual({ scope, resource: 'window' });
    expect(contractBudget('check', used(limit)).reachedLimit(destination)).toBeUndefined();
  });

  test('taken requests count at once', () => {
    const remaining = contractBudget('check', { windows: [], slots: [] });
    const destination = to('h');
    for (let n = 0; n < 2; n += 1) remaining.take(destination);
    expect(remaining.reachedLimit(destination)).toEqual({ scope: 'host', resource: 'slots' });
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

test('other limits than those of the contract apply in the same way', () => {
  const limits = {
    windows: { ...CONTRACT_LIMITS.windows, delivery: { all: 5, workspace: 4, host: 3, ip: 3 } },
    slots: { all: 9, workspace: 9, host: 9, ip: 9 },
  };
  const remaining = budget('delivery', { windows: [], slots: [] }, limits);
  for (let n = 0; n < 3; n += 1) remaining.take(to('h'));
  expect(remaining.reachedLimit(to('h'))).toEqual({ scope: 'host', resource: 'window' });
  remaining.take(to('other'));
  expect(remaining.reachedLimit(to('third'))).toEqual({ scope: 'workspace', resource: 'window' });
});

test('windows are clock minutes', () => {
  expect(windowStart('2026-11-20T09:30:59.999Z')).toBe('2026-11-20T09:30:00.000Z');
  expect(windowStart('2026-11-20T09:31:00.000Z')).toBe('2026-11-20T09:31:00.000Z');
  expect(windowEnd('2026-11-20T09:59:00.000Z')).toBe('2026-11-20T10:00:00.000Z');
});
