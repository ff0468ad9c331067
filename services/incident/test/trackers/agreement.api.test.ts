import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { startWithTracker } from './trackers.ts';

const { service, clock, later, client, create, followUp, hook } = await startWithTracker();
const DAY = 86_400_000;

type Step =
  | { who: 'here'; status: 'open' | 'done' | 'dropped' }
  | { who: 'there'; isDone: boolean; told: number }
  | { who: 'chance'; what: 'fault' | 'lost' | 'time' | 'late' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ who: fc.constant('here' as const), status: fc.constantFrom('open', 'done', 'dropped') }),
  fc.record({ who: fc.constant('there' as const), isDone: fc.boolean(), told: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ who: fc.constant('chance' as const), what: fc.constantFrom('fault', 'lost', 'time', 'late') }),
);

const stateOf = (isDone: boolean) => (isDone ? 'done' : 'open');

/** Plays the steps, and checks that both sides agree. */
async function play(tracker: Awaited<ReturnType<typeof create>>, steps: readonly Step[]): Promise<void> {
  const { fake } = tracker;
  const own = await followUp();
  await own.ticket(tracker);
  await own.shows({ status: 'linked' });
  const [issue] = fake.issues;
  const changes = { here: 0, there: 0 };
  const last: { here?: string; there?: string } = {};
  for (const each of steps) {
    if (each.who === 'here') {
      const before = await own.current();
      const { status } = await own.set(each.status, before.revision);
      // The tracker was faster.
      if (status === 412) continue;
      const [was, is] = [before.status === 'open', each.status === 'open'];
      if (was === is) continue;
      changes.here += 1;
      last.here = stateOf(!is);
    } else if (each.who === 'there') {
      if (issue!.isDone === each.isDone) continue;
      fake.change(issue!, each.isDone);
      changes.there += 1;
      last.there = stateOf(each.isDone);
      for (let told = 0; told < each.told; told += 1) await hook(tracker);
    } else if (each.what === 'fault') fake.faults.push({ status: 502 });
    else if (each.what === 'lost') fake.faults.push('lost');
    else if (each.what === 'time') await later(DAY);
    else await hook(tracker);
  }
  fake.faults.length = 0;
  const agreed = await eventually(
    async () => {
      await later(DAY / 2);
      const { ticket, status } = await own.current();
      const here = stateOf(status !== 'open');
      const isAgreed = ticket.failure === null && ticket.state === here && here === stateOf(issue!.isDone);
      return isAgreed && here;
    },
    { what: 'agreement' },
  );
  if (last.here !== undefined || last.there !== undefined) expect([last.here, last.there]).toContain(agreed);
  else expect(agreed).toBe('open');
  // Each write was asked for by somebody on the other side; one whose answer was lost is there all the same.
  const byTracker = await service
    .knex('changelog')
    .where({ actor: 'github' })
    .whereRaw('changes::text like ?', [`%follow_ups.${own.id}%`]);
  expect(fake.writes.length).toBeLessThanOrEqual(changes.here);
  expect(byTracker.length).toBeLessThanOrEqual(changes.there);
  const { revision } = await own.current();
  const written = fake.writes.length;
  await hook(tracker);
  await later(DAY);
  await eventually(async () => (await tracker.current()).last_success_at === clock.now());
  expect([(await own.current()).revision, fake.writes.length]).toEqual([revision, written]);
}

test('whatever people do on both sides, and whatever is lost, both end in a state that somebody gave them last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const tracker = await create('github');
      try {
        await play(tracker, steps);
      } finally {
        await client.post(`${tracker.path}/archive`);
      }
    }),
    { numRuns: 25 },
  );
}, 120_000);

test('two processes make one ticket of each follow-up', async () => {
  const tracker = await create('jira', { auto_filters: {} });
  const second = await service.startProcess();
  try {
    const followUps = await Promise.all(
      Array.from({ length: 12 }, async (_, nth) => followUp({ title: `Follow-up ${nth}` })),
    );
    for (const each of followUps) await each.shows({ status: 'linked' });
    expect(tracker.fake.issues.map(({ title }) => title).toSorted()).toEqual(
      followUps.map((_, nth) => `Follow-up ${nth}`).toSorted(),
    );
  } finally {
    await second.stop();
    await service.as({ workspace: { id: 1 } }).post(`${tracker.path}/archive`);
  }
});
