import { beforeEach, describe, expect, test } from '@jest/globals';
import { addMilliseconds } from '@tocsin/runtime';
import { CONTRACT_LIMITS, windowStart } from '../src/requests/domain/limits.ts';
import { limitStore } from '../src/requests/store/limit-store.ts';
import { clockTime } from '../src/shared/store/time.ts';
import { deliveryClaims } from '../src/deliveries/claim-deliveries.ts';
import { activeSubscription, serviceForFile } from './service.ts';

const dependencies = () => ({
  database: service.knex,
  time: clockTime(service.clock),
  requestLimits: CONTRACT_LIMITS,
});

/** Workspaces 1 to 3, each with two subscriptions to different hosts. */
const subscriptions = new Map<string, { id: string; workspaceId: number }>();
const service = await serviceForFile();
for (const workspaceId of [1, 2, 3]) {
  for (const name of ['a', 'b']) {
    const host = `${name}${workspaceId}.example.com`;
    const user = { workspace: { id: workspaceId } };
    subscriptions.set(host, { id: (await activeSubscription(service, `https://${host}/`, user)).id, workspaceId });
  }
}
// Only the tests claim deliveries.
await service.app.stop();
beforeEach(async () => {
  for (const table of ['deliveries', 'events', 'slots', 'windows', 'host_addresses'])
    await service.knex(table).delete();
  claims = deliveryClaims(dependencies());
});

let claims: ReturnType<typeof deliveryClaims>;

/** Queues deliveries that have been due for `since` milliseconds. */
const queue = async (host: string, count: number, since = 0) => {
  const { id, workspaceId } = subscriptions.get(host)!;
  const now = service.clock.now();
  await service.knex.raw(
    `with added as (
       insert into events (id, workspace_id, body, occurred_at, queued_at)
       select gen_random_uuid(), ?, '{}', ?, ? from generate_series(1, ?) returning id)
     insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, deadline_at)
     select id, ?, ?, 'queued', ?, ?::timestamptz + interval '1 day' from added`,
    [workspaceId, now, now, count, id, workspaceId, addMilliseconds(now, -since), now],
  );
};
const claim = async (blockedHosts: string[] = []) => (await claims(blockedHosts)).map(({ host }) => host).sort();
const use = async (scope: string, key: string, used: number) =>
  service.knex('windows').insert({ minute: windowStart(service.clock.now()), scope: `delivery:${scope}`, key, used });
/** Takes slots for other workspaces. */
const occupy = async (count: number) =>
  limitStore(service.knex).openSlots(
    Array.from({ length: count }, (_, n) => ({
      token: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      kind: 'delivery',
      workspaceId: 1_000 + n,
      host: `other${n}.example.com`,
      ip: null,
      share: n,
      windowShare: n,
    })),
    service.clock.now(),
  );

/** The greatest number of requests of this minute with the same key, by scope; of the scope `all`, of all shares. */
const usedWindows = async (): Promise<Record<string, number>> => {
  const { rows } = await service.knex.raw<{ rows: { scope: string; used: number }[] }>(
    `select split_part(scope, ':', 2) as scope,
       (case scope when 'delivery:all' then sum(used) else max(used) end)::int as used
     from windows where minute = ? group by scope`,
    [windowStart(service.clock.now())],
  );
  return Object.fromEntries(rows.map(({ scope, used }) => [scope, used]));
};

/** The same of the slots. */
const usedSlots = async (): Promise<Record<string, number>> => {
  const { rows } = await service.knex.raw<{ rows: [Record<string, number>] }>(
    `select (select count(*) from slots)::int as all,
       (select max(count) from (select count(*) from slots group by workspace_id) as s)::int as workspace,
       (select max(count) from (select count(*) from slots group by host) as s)::int as host,
       (select max(count) from (select count(*) from slots group by ip) as s)::int as ip`,
  );
  return rows[0];
};

const mostOf = (a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((scope) => [
      scope,
      Math.max(a[scope] ?? 0, b[scope] ?? 0),
    ]),
  );

describe('a claim', () => {
  test('leaves what is leased or waits for another attempt out of the queues, until it is due', async () => {
    await queue('a1.example.com', 1);
    expect(await claim()).toEqual(['a1.example.com']);
    const queued = service.knex('deliveries').where({ is_postponed: false });
    expect(await queued.clone().select('id')).toEqual([]);
    await service.knex('slots').delete();
    // The lease has ended.
    await service.knex('deliveries').update({ due_at: service.clock.now() });
    expect(await claim()).toEqual(['a1.example.com']);
  });

  test('serves the workspaces in turn across claims', async () => {
    for (const workspaceId of [1, 2, 3]) await queue(`a${workspaceId}.example.com`, 9, workspaceId === 1 ? 60_000 : 0);
    await occupy(15);
    const served: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      const [host = ''] = await claim();
      served.push(host);
      await service.knex('slots').where({ host }).delete();
    }
    expect(served.map((host) => host.charAt(1))).toEqual(['1', '2', '3', '1', '2', '3']);
  });

  test('takes the delivery that has been due longest, of any subscription', async () => {
    await queue('a1.example.com', 1, 1_000);
    await queue('b1.example.com', 1, 2_000);
    await occupy(15);
    expect(await claim()).toEqual(['b1.example.com']);
  });

  test('skips a host, workspace or address over its limit', async () => {
    await queue('a1.example.com', 200, 60_000);
    await queue('b1.example.com', 1);
    await queue('a2.example.com', 200, 60_000);
    await queue('a3.example.com', 200, 60_000);
    await queue('b3.example.com', 1);
    await use('host', 'a1.example.com', 10);
    await use('workspace', '2', 30);
    await service
      .knex('host_addresses')
      .insert({ host: 'a3.example.com', ip: '8.8.8.8', seen_at: service.clock.now() });
    await use('ip', '8.8.8.8', 10);
    expect(await claim()).toEqual(['b1.example.com', 'b3.example.com']);
  });

  test('takes no more than the windows allow', async () => {
    for (const workspaceId of [1, 2, 3]) await queue(`a${workspaceId}.example.com`, 2);
    // Of 120, half of the shares have eight, and the others seven.
    for (let share = 0; share < 16; share += 1) await use('all', String(share), share === 0 ? 5 : share < 8 ? 8 : 7);
    expect(await claim()).toHaveLength(3);
    expect(await claim()).toEqual([]);
  });

  test('skips blocked hosts', async () => {
    await queue('a1.example.com', 1);
    await queue('a2.example.com', 1);
    expect(await claim(['a1.example.com'])).toEqual(['a2.example.com']);
  });

  test('takes no delivery that is not due, held, past its deadline, or was attempted eight times', async () => {
    await queue('a1.example.com', 1, -1);
    await queue('a2.example.com', 1);
    await service.knex('deliveries').where({ workspace_id: 2 }).update({ status: 'held' });
    await queue('a3.example.com', 1);
    await service.knex('deliveries').where({ workspace_id: 3 }).update({ deadline_at: service.clock.now() });
    await queue('b3.example.com', 1);
    const { id } = subscriptions.get('b3.example.com')!;
    await service.knex('deliveries').where({ subscription_id: id }).update({ attempts: 8 });
    expect(await claim()).toEqual([]);
  });

  test('skips rows that another transaction has locked, without waiting', async () => {
    await queue('a1.example.com', 1);
    await queue('a2.example.com', 1);
    await service.knex.transaction(async (trx) => {
      await trx('deliveries').where({ workspace_id: 1 }).forUpdate().select('id');
      expect(await claim()).toEqual(['a2.example.com']);
    });
    expect(await claim()).toEqual(['a1.example.com']);
  });

  test('of several processes at once exceeds no limit, in many rounds', async () => {
    for (const host of subscriptions.keys()) await queue(host, 200);
    // All hosts have one of two addresses.
    const now = service.clock.now();
    await service
      .knex('host_addresses')
      .insert([...subscriptions.keys()].map((host, n) => ({ host, ip: `8.8.8.${n % 2}`, seen_at: now })));
    const limits = {
      windows: { ...CONTRACT_LIMITS.windows, delivery: { all: 47, workspace: 20, host: 9, ip: 26 } },
      slots: { all: 11, workspace: 5, host: 2, ip: 6 },
    };
    const processes = Array.from({ length: 4 }, () => deliveryClaims({ ...dependencies(), requestLimits: limits }));
    const leased = new Set<number>();
    let total = 0;
    const most = { windows: {}, slots: {} };
    for (let round = 0; round < 40; round += 1) {
      if (round % 20 === 0) service.clock.toNextMinute();
      const claimed = (await Promise.all(processes.map(async (process) => process([])))).flat();
      for (const { deliveryId } of claimed) leased.add(deliveryId);
      expect(leased.size).toBe((total += claimed.length));
      most.windows = mostOf(most.windows, await usedWindows());
      most.slots = mostOf(most.slots, await usedSlots());
      // Some requests end.
      await service.knex.raw('delete from slots where token in (select token from slots order by token limit 4)');
    }
    const isWithin = (used: object, allowed: Record<string, number>) =>
      Object.entries(used).filter(([scope, count]) => (count as number) > (allowed[scope] ?? 0));
    expect(isWithin(most.windows, limits.windows.delivery)).toEqual([]);
    expect(isWithin(most.slots, limits.slots)).toEqual([]);
    expect(most).toMatchObject({ windows: { all: 47 }, slots: { all: 11, host: 2 } });
  });

  test('that runs concurrently takes each delivery once', async () => {
    for (const workspaceId of [1, 2, 3]) await queue(`a${workspaceId}.example.com`, 5);
    const claims = await Promise.all([claim(), claim()]);
    expect(claims.flat()).toHaveLength(6);
    expect(await service.knex('deliveries').whereNotNull('lease_token').select('id')).toHaveLength(6);
    expect(await service.knex('slots').select('token')).toHaveLength(6);
  });
});
