import { mock } from 'node:test';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createMetrics, type Logger } from '@tocsin/runtime';
import { notFound, refusalsOf, shareExceeded } from '../../src/index.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
afterEach(() => mock.timers.reset());

function start() {
  const lines: unknown[][] = [];
  const log = { warn: (...line: unknown[]) => void lines.push(line) } as unknown as Logger;
  const metrics = createMetrics('test');
  return { lines, metrics, refusals: refusalsOf(metrics, log), log };
}

const refusal = (reason: string) => shareExceeded('Too many', { reason });
const workspace = (id: number, rest = {}) => ({ id, is_demo: false, ...rest });

test('refusals are counted by reason and class of workspace, other errors are not', async () => {
  const { metrics, refusals, log } = start();
  refusals.count(refusal('a'), workspace(1));
  refusals.count(refusal('a'), workspace(2));
  refusals.count(refusal('a'), workspace(3, { is_demo: true, own_rate_limit: true }));
  refusals.count(refusal('b'), workspace(4, { own_rate_limit: true }));
  refusals.count(refusal('b'), undefined);
  refusals.count(notFound('The thing'), workspace(1));
  // The same counter, for another server of the process.
  refusalsOf(metrics, log).count(refusal('a'), workspace(1));
  const text = await metrics.metrics();
  const counts = [...text.matchAll(/^tocsin_refusals_total\{(.*?),app="test"\} (\d+)$/gm)].map(([, ...rest]) => rest);
  expect(counts).toEqual([
    ['reason="a",workspace_class="standard"', '3'],
    ['reason="a",workspace_class="demo"', '1'],
    ['reason="b",workspace_class="limited"', '1'],
    ['reason="b",workspace_class="none"', '1'],
  ]);
});

test('one log line a minute has the sums and the workspace with the most, and none comes without refusals', () => {
  const { lines, refusals } = start();
  mock.timers.tick(600_000);
  expect(lines).toEqual([]);
  for (let count = 0; count < 3; count += 1) refusals.count(refusal('a'), workspace(7));
  refusals.count(refusal('b'), workspace(8));
  refusals.count(refusal('b'), undefined);
  mock.timers.tick(60_000);
  expect(lines).toEqual([
    [
      { refusals: { a: 3, b: 2 }, worst_workspace: 7, worst_workspace_refusals: 3 },
      'requests were refused by limits in the last minute',
    ],
  ]);
  refusals.count(refusal('b'), undefined);
  mock.timers.tick(600_000);
  expect(lines).toHaveLength(2);
  expect(lines[1]?.[0]).toEqual({ refusals: { b: 1 } });
});
