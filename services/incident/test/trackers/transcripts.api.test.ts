import { describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { FAKES } from './fakes.ts';
import { startWithTracker } from './trackers.ts';

const { clock, later, client, create, followUp, hook, send } = await startWithTracker();
const MINUTE = 60_000;

describe.each(Object.keys(FAKES))('%s', (kind) => {
  test('a follow-up becomes a ticket, and both are done and reopened together', async () => {
    const tracker = await create(kind);
    const { fake } = tracker;
    const own = await followUp({ description: 'Warn at 80%\n\nand page at 95%', owner: '42', due_on: '2026-12-04' });
    const { status, body } = await own.ticket(tracker);
    expect([status, body.follow_up.ticket]).toMatchObject([202, { tracker_id: tracker.id, status: 'pending' }]);
    const linked = await own.shows({ status: 'linked', state: 'open', failure: null });
    expect(linked.key).toBe(tracker.kind.keyOf(fake.issues[0]!));
    expect(linked.url).toMatch(/^https:/);
    const [issue] = fake.issues;
    expect(issue).toMatchObject({ title: 'Alert on the pool', isDone: false });
    for (const text of ['Warn at 80%', 'and page at 95%', 'INC-', 'Checkout is down', 'Due: 2026-12-04', 'Owner: '])
      expect(issue!.body).toContain(text);

    // Done there, and told by a webhook.
    fake.change(issue!, true);
    expect(await hook(tracker)).toBe(true);
    await own.shows({ state: 'done' });
    expect(await own.current()).toMatchObject({ status: 'done', revision: 2, completed_at: clock.now() });
    const { changelog } = (await client.get(`${own.of}/changelog`)).body;
    expect(changelog[0]).toMatchObject({ actor: kind, api_key: null });

    // Reopened there, and nobody tells.
    fake.change(issue!, false);
    await later(24 * 60 * MINUTE);
    await own.shows({ state: 'open' });
    expect(await own.current()).toMatchObject({ status: 'open', revision: 3 });
    expect(fake.writes).toEqual([]);

    await own.set('dropped');
    await own.shows({ state: 'done' });
    await own.set('open');
    await own.shows({ state: 'open' });
    await own.set('done');
    await own.shows({ state: 'done' });
    expect(fake.writes).toEqual(['1 done', '1 open', '1 done']);
    expect(await hook(tracker)).toBe(true);
    await later(24 * 60 * MINUTE);
    await eventually(async () => (await tracker.current()).last_success_at === clock.now());
    expect([fake.writes.length, (await own.current()).revision]).toEqual([3, 6]);
  });

  test('a webhook that does not know the secret changes nothing, nor one about another ticket', async () => {
    const tracker = await create(kind);
    const own = await followUp();
    await own.ticket(tracker);
    await own.shows({ status: 'linked' });
    const { hook: of } = tracker.kind;
    const [issue] = tracker.fake.issues;
    const signed = of(issue!, tracker.secret);
    expect(await hook(tracker, 0, 'another-secret')).toBe(false);
    expect(await send(tracker, { ...signed, headers: {} })).toBe(false);
    expect(await send({ id: 999_999 }, signed)).toBe(false);
    if (kind !== 'gitlab') expect(await send(tracker, { ...signed, body: `${signed.body} ` })).toBe(false);
    expect(await send(tracker, of({ ...issue!, number: 77 }, tracker.secret))).toBe(true);
    await client.post(`${tracker.path}/archive`);
    expect(await send(tracker, signed)).toBe(false);
  });

  test('an answer that is lost makes no second ticket', async () => {
    const tracker = await create(kind);
    const own = await followUp();
    // Linear is asked for the team first.
    tracker.fake.faults.push(...(kind === 'linear' ? ([undefined] as const) : []), 'lost');
    await own.ticket(tracker);
    await eventually(async () => (await own.current()).ticket.failure !== null);
    expect((await own.current()).ticket).toMatchObject({ status: 'pending', failure: { reason: 'connection' } });
    expect(tracker.fake.issues).toHaveLength(1);
    await later(2 * MINUTE);
    await own.shows({ status: 'linked', failure: null });
    expect(tracker.fake.issues).toHaveLength(1);
  });
});
