import { describe, expect, test } from '@jest/globals';
import { afterCommit, boundedCache, coalesceCalls, currentDryRun, runDry, runInBackground } from '../src/index.ts';

const request = { holder: 1, readOnly: false, isClientGone: () => false };

describe('a dry run', () => {
  test('skips what follows a commit, and fills no cache', async () => {
    const done: string[] = [];
    const announce = (text: string) => afterCommit(() => done.push(text));
    const cache = boundedCache<string, number>({ bytes: 10_000 });
    cache.set('version', 1);
    await runDry(request, async () => {
      announce('dry');
      cache.set('version', 2);
      runInBackground(() => announce('background'));
    });
    announce('real');
    expect([done, cache.get('version')]).toEqual([['background', 'real'], 1]);
  });

  test('does not run what it shares with other requests', async () => {
    const calls = coalesceCalls<string, boolean>();
    const isDry = async () => currentDryRun() !== undefined;
    const shared = await runDry(request, async () => {
      expect(await isDry()).toBe(true);
      return Promise.all([calls.run('a', isDry), calls.run('a', isDry), calls.run('a', isDry)]);
    });
    expect(shared).toEqual([false, false, false]);
  });
});
