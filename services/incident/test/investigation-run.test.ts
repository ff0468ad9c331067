import { expect, test } from '@jest/globals';
import { isNewer, type ToldRun } from '../src/domain/investigation-run.ts';

const run = (toldAt: string, status: ToldRun['status']): ToldRun => ({
  runId: 'r',
  status,
  startedAt: '2026-11-20T09:00:00.000Z',
  completedAt: null,
  toldAt: `2026-11-20T09:00:0${toldAt}.000Z`,
});

test.each([
  ['the first news', run('1', 'queued'), undefined, true],
  ['later news', run('2', 'running'), run('1', 'queued'), true],
  ['a second start', run('2', 'queued'), run('1', 'completed'), true],
  ['earlier news', run('1', 'running'), run('2', 'completed'), false],
  ['news of the same time that is further on', run('1', 'failed'), run('1', 'running'), true],
  ['news of the same time that is less far', run('1', 'queued'), run('1', 'completed'), false],
])('%s', (_what, news, known, expected) => {
  expect(isNewer(news, known)).toBe(expected);
});
