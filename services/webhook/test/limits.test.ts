import { describe, expect, test } from '@jest/globals';
import {
  budget,
  type Destination,
  SCOPES,
  SLOTS,
  windowEnd,
  windowKeys,
  windowOf,
  WINDOWS,
} from '../src/domain/limits.ts';

const to = (host: string, options: Partial<Destination> = {}): Destination => ({
  workspaceId: 1,
  host,
  ip: null,
  ...options,
});

/** How many requests to ever new destinations of `make` fit, one after the other. */
function capacity(make: (n: number) => Destination, used: Parameters<typeof budget>[1], kind = 'delivery' as const) {
  const left = budget(kind, used);
  let n = 0;
  for (; left.full(make(n)) === undefined; n += 1) left.take(make(n));
  return { n, full: left.full(make(n)) };
}

describe('slots', () => {
  const empty = { windows: [], slots: [] };

  test('16 in all', () => {
    expect(capacity((n) => to(`h${n}`, { workspaceId: n }), empty)).toEqual({
      n: 16,
      full: { scope: 'all', what: 'slots' },
    });
  });

  test('8 for one workspace', () => {
    expect(capacity((n) => to(`h${n}`), empty)).toEqual({ n: 8, full: { scope: 'workspace', what: 'slots' } });
  });

  test('2 for one address, whatever the names', () => {
    const same = (n: number) => to(`h${n}`, { workspaceId: n, ip: '8.8.8.8' });
    expect(capacity(same, empty)).toEqual({ n: 2, full: { scope: 'ip', what: 'slots' } });
  });

  test('2 for one host while its address is not known', () => {
    expect(capacity((n) => to('h', { workspaceId: n }), empty)).toEqual({
      n: 2,
      full: { scope: 'host', what: 'slots' },
    });
  });

  test('those that others hold count', () => {
    const slots = Array.from({ length: 15 }, (_, n) => to(`other${n}`, { workspaceId: 100 + n }));
    expect(capacity((n) => to(`h${n}`, { workspaceId: n }), { windows: [], slots }).n).toBe(1);
  });
});

describe('windows', () => {
  test.each(SCOPES)('of deliveries: %s', (scope) => {
    const destination = to('h', { ip: '8.8.8.8' });
    const key = windowKeys('delivery', destination).find((window) => window.scope === `delivery:${scope}`)!;
    const limit = WINDOWS.delivery[scope];
    const used = (count: number) => ({ windows: [{ ...key, used: count }], slots: [] });
    expect(budget('delivery', used(limit - 1)).full(destination)).toBeUndefined();
    expect(budget('delivery', used(limit)).full(destination)).toEqual({ scope, what: 'window' });
    expect(budget('check', used(limit)).full(destination)).toBeUndefined();
  });

  test('what is taken counts at once', () => {
    const left = budget('check', { windows: [], slots: [] });
    const destination = to('h');
    for (let n = 0; n < 2; n += 1) left.take(destination);
    expect(left.full(destination)).toEqual({ scope: 'host', what: 'slots' });
  });

  test('a full window is told rather than taken slots: it is the longer wait', () => {
    const windows = [{ scope: 'delivery:host', key: 'h', used: 10 }];
    const slots = [to('h'), to('h')];
    expect(budget('delivery', { windows, slots }).full(to('h'))).toEqual({ scope: 'host', what: 'window' });
  });
});

test('tells what is exhausted', () => {
  const left = budget('delivery', {
    windows: [
      { scope: 'delivery:host', key: 'full.example', used: 10 },
      { scope: 'delivery:host', key: 'half.example', used: 5 },
      { scope: 'check:host', key: 'checked.example', used: 10 },
    ],
    slots: Array.from({ length: SLOTS.workspace }, (_, n) => to(`h${n}`, { workspaceId: 7 })),
  });
  expect(left.exhausted('host')).toEqual(['full.example']);
  expect(left.exhausted('workspace')).toEqual(['7']);
  expect(left.exhausted('all')).toEqual([]);
});

test('windows are the minutes of the clock', () => {
  expect(windowOf('2026-11-20T09:30:59.999Z')).toBe('2026-11-20T09:30:00.000Z');
  expect(windowOf('2026-11-20T09:31:00.000Z')).toBe('2026-11-20T09:31:00.000Z');
  expect(windowEnd('2026-11-20T09:59:00.000Z')).toBe('2026-11-20T10:00:00.000Z');
});
