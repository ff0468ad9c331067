import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { recordStatements } from '../../statements/record-statements.ts';
import { runningSystem } from '../../systems/running.ts';

/** Seconds. A longest interval, besides tasks that run every hour: each poll is counted as often as it can be. */
const WINDOW = 60;
/** Seconds; longer than the polls that find what the start has left to do. */
const SETTLING = 16;

describeWithServers('a system that nobody uses', () => {
  runningSystem(() => ({ rests: true, firstRunWithin: 0 }));

  const statementsOf = async (seconds: number) => recordStatements(async () => delay(seconds * 1_000));
  const onlyPolls = async () => (await statementsOf(SETTLING)).every(({ text }) => /^\s*select /.test(text));

  test('executes at most one statement a second', async () => {
    await eventually(onlyPolls, { what: 'the end of what follows the start' });
    const statements = await statementsOf(WINDOW);
    const isTooMuch = statements.length > WINDOW;
    expect(isTooMuch ? statements.map(({ text }) => text) : []).toEqual([]);
  });
});
