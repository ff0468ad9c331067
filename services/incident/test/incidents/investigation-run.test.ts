import { expect, test } from '@jest/globals';
import { isNewer, type RunReport } from '../../src/incidents/domain/investigation-run.ts';

const run = (at: string, status: RunReport['status']): RunReport => ({
  runId: 'r',
  status,
  startedAt: '2026-11-20T09:00:00.000Z',
  completedAt: null,
  reportedAt: `2026-11-20T09:00:0${at}.000Z`,
});

test.each([
  ['the first report', run('1', 'queued'), undefined, true],
  ['a later report', run('2', 'running'), run('1', 'queued'), true],
  ['a second start', run('2', 'queued'), run('1', 'completed'), true],
  ['an earlier report', run('1', 'running'), run('2', 'completed'), false],
  ['a report of the same time with more progress', run('1', 'failed'), run('1', 'running'), true],
  ['a report of the same time with less progress', run('1', 'queued'), run('1', 'completed'), false],
])('%s', (_what, report, current, expected) => {
  expect(isNewer(report, current)).toBe(expected);
});
