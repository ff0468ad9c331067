import { describe, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { chooseFairly } from '../src/deliveries/domain/choose-fairly.ts';
import { budget, CONTRACT_LIMITS, type Destination } from '../src/requests/domain/limits.ts';

const unusedBudget = () => budget('delivery', { windows: [], slots: [] }, CONTRACT_LIMITS);
const candidate = (workspaceId: number, host: string): Destination => ({ workspaceId, host, ip: null });
const workspaces = (chosen: readonly Destination[]) => chosen.map(({ workspaceId }) => workspaceId);

test('chooses one candidate per workspace in turn', () => {
  const candidates = [1, 1, 1, 2, 3, 3].map((workspaceId, n) => candidate(workspaceId, `h${n}`));
  expect(workspaces(chooseFairly(candidates, { budget: unusedBudget(), after: 0 }))).toEqual([1, 2, 3, 1, 3, 1]);
});

test('starts after the workspace that was served last', () => {
  const candidates = [2, 3, 1].map((workspaceId) => candidate(workspaceId, `h${workspaceId}`));
  expect(workspaces(chooseFairly(candidates, { budget: unusedBudget(), after: 2 }))).toEqual([3, 1, 2]);
  expect(workspaces(chooseFairly(candidates, { budget: unusedBudget(), after: 9 }))).toEqual([1, 2, 3]);
});

test('skips a candidate over its limit and takes the next of the same workspace', () => {
  const candidates = [candidate(1, 'busy'), candidate(1, 'busy'), candidate(1, 'busy'), candidate(1, 'free')];
  const chosen = chooseFairly(candidates, { budget: unusedBudget(), after: 0 });
  expect(chosen.map(({ host }) => host)).toEqual(['busy', 'busy', 'free']);
});

describe('with any candidates', () => {
  const anyCandidates = fc.array(
    fc.record({
      workspaceId: fc.integer({ min: 1, max: 6 }),
      host: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'),
      ip: fc.constantFrom(null, '8.8.8.8', '1.1.1.1'),
    }),
    { maxLength: 60 },
  );

  test('no limit is exceeded, and no candidate within the limits is left', () => {
    fc.assert(
      fc.property(anyCandidates, fc.integer({ min: 0, max: 7 }), (candidates, after) => {
        const remaining = unusedBudget();
        const chosen = chooseFairly(candidates, { budget: remaining, after });
        const maxCount = (keys: (string | number)[]) =>
          Math.max(0, ...[...Map.groupBy(keys, (key) => key).values()].map((same) => same.length));
        expect(chosen.length).toBeLessThanOrEqual(CONTRACT_LIMITS.slots.all);
        expect(maxCount(workspaces(chosen))).toBeLessThanOrEqual(CONTRACT_LIMITS.slots.workspace);
        expect(maxCount(chosen.map(({ host }) => host))).toBeLessThanOrEqual(CONTRACT_LIMITS.slots.host);
        expect(maxCount(chosen.flatMap(({ ip }) => (ip === null ? [] : [ip])))).toBeLessThanOrEqual(
          CONTRACT_LIMITS.slots.ip,
        );
        for (const skipped of candidates.filter((each) => !chosen.includes(each)))
          expect(remaining.reachedLimit(skipped)).toBeDefined();
      }),
    );
  });
});
