import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { windowOf } from '../src/domain/limits.ts';
import { behave, eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { activeSubscription, deliveries, publish, settled, startService, type TestService } from './service.ts';

let service: TestService;
let receiver: Receiver;
/** Where names lead. */
let addresses: Record<string, string>;

/** A receiver on many loopback addresses, known by these names. */
async function start(named: Record<string, string>): Promise<void> {
  addresses = named;
  const names = Object.keys(named);
  receiver = await startReceiver({ names, host: '0.0.0.0' });
  service = await startService({
    receivers: [receiver],
    testReceivers: names.map((name) => receiver.hostAndPort(name)),
    parts: { resolve },
  });
  service.clock.toNextMinute();
}
const resolve = async (host: string) => [addresses[host] ?? '127.0.0.1'];
afterEach(async () => {
  receiver.hangUp();
  await service.stop();
  await receiver.stop();
});

const slots = async () => service.rows('slots').select<{ ip: string | null }[]>('ip');
const waiting = async () => (await deliveries(service)).filter(({ status }) => status === 'queued').length;

/** Nothing is under way, and nothing more can begin in this minute: two looks apart see the same. */
async function quiet(): Promise<void> {
  const look = async () =>
    JSON.stringify([await slots(), await service.rows('windows').select('scope', 'key', 'used')]);
  await eventually(
    async () => {
      const before = await look();
      await delay(200);
      return (await slots()).length === 0 && before === (await look());
    },
    { what: 'quiet', within: 30_000 },
  );
}

/** The most that a count of things by some key comes to. */
const most = (keys: readonly string[]) =>
  Math.max(0, ...[...Map.groupBy(keys, (key) => key).values()].map((same) => same.length));

test('100 events for one host are all delivered, ten in any minute, none of them put off', async () => {
  await start({ 'one.test': '127.0.0.1' });
  await activeSubscription(service, receiver.url('/', 'one.test'));
  const minutes: string[] = [];
  receiver.respond = () => {
    minutes.push(windowOf(service.clock.now()));
    return behave.answer(204);
  };
  await publish(service, ...Array.from({ length: 100 }, (_, n) => ({ id: n + 1 })));
  for (let minute = 1; minute <= 10; minute += 1) {
    await eventually(() => minutes.length >= minute * 10);
    await quiet();
    expect(minutes).toHaveLength(minute * 10);
    service.clock.toNextMinute();
  }
  expect(most(minutes)).toBe(10);
  const all = await deliveries(service);
  expect(all.every(({ status, attempts }) => status === 'succeeded' && attempts === 1)).toBe(true);
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(100);
}, 90_000);

describe('an address', () => {
  test('that is full is found out after the claim: that was an attempt, and the next is in the next minute', async () => {
    await start({ 'a.test': '127.0.0.1', 'b.test': '127.0.0.1' });
    await activeSubscription(service, receiver.url('/a', 'a.test'));
    await publish(service, ...Array.from({ length: 10 }, (_, n) => ({ id: n + 1 })));
    await eventually(async () => (await waiting()) === 0);
    const other = { workspace: { id: 2 } };
    await activeSubscription(service, receiver.url('/b', 'b.test'), other);
    await publish(service, { id: 11, ...other });
    await eventually(async () => (await deliveries(service))[10]?.attempts === 1);
    await quiet();
    expect((await deliveries(service))[10]).toMatchObject({
      status: 'queued',
      attempts: 1,
      failed_attempts: 0,
      last_error: null,
      due_at: new Date(Date.parse(windowOf(service.clock.now())) + 60_000).toISOString(),
    });
    expect(receiver.requests).toHaveLength(10);

    // From now on the name's address is known: the next one waits, and that is no attempt.
    await publish(service, { id: 12, ...other });
    await quiet();
    expect((await deliveries(service))[11]).toMatchObject({ status: 'queued', attempts: 0 });

    service.clock.toNextMinute();
    await eventually(async () => (await waiting()) === 0);
    expect((await deliveries(service)).slice(10)).toMatchObject([
      { status: 'succeeded', attempts: 2 },
      { status: 'succeeded', attempts: 1 },
    ]);
  });

  test('that is full every time uses the eight attempts up', async () => {
    await start({ 'a.test': '127.0.0.1' });
    await activeSubscription(service, receiver.url('/', 'a.test'));
    /** The next minute, in which others use the address up; and the name's address is news every time. */
    const nextMinute = async () => {
      const minute = new Date(Date.parse(windowOf(service.clock.now())) + 60_000).toISOString();
      await service.rows('windows').insert({ minute, scope: 'delivery:ip', key: '127.0.0.1', used: 10 });
      await service.rows('host_addresses').delete();
      service.clock.toNextMinute();
    };
    await nextMinute();
    await publish(service, {});
    for (let n = 1; n < 8; n += 1) {
      expect(await settled(service, ({ attempts }) => attempts === n)).toMatchObject({ status: 'queued' });
      await nextMinute();
    }
    expect(await settled(service, ({ attempts }) => attempts === 8)).toMatchObject({
      status: 'failed',
      failed_attempts: 0,
    });
    expect(receiver.requests).toEqual([]);
  });

  test('takes two requests at once, whatever the names', async () => {
    await start({ 'a.test': '127.0.0.1', 'b.test': '127.0.0.1', 'c.test': '127.0.0.1' });
    for (const [n, name] of ['a.test', 'b.test', 'c.test'].entries()) {
      await activeSubscription(service, receiver.url(`/${name}`, name), { workspace: { id: n + 1 } });
    }
    const answers: (() => void)[] = [];
    receiver.respond = () => (response) => void answers.push(() => void response.writeHead(204).end());
    await publish(service, { workspace: { id: 1 } }, { workspace: { id: 2 } }, { workspace: { id: 3 } });
    await eventually(() => answers.length === 2);
    await eventually(async () => (await slots()).length === 2);
    expect(answers).toHaveLength(2);
    // The third was turned away after its name was looked up: that is no attempt.
    expect((await deliveries(service)).map(({ attempts }) => attempts).sort()).toEqual([0, 1, 1]);
    answers[0]!();
    await eventually(() => answers.length === 3);
    answers.slice(1).forEach((answer) => answer());
    await eventually(async () => (await waiting()) === 0);
    expect((await deliveries(service)).every(({ status, attempts }) => status === 'succeeded' && attempts === 1)).toBe(
      true,
    );
  });
});

test('a workspace whose receivers hang holds half of the slots, and others go on', async () => {
  const hosts = Array.from({ length: 10 }, (_, n) => [`h${n}.test`, `127.0.0.${n + 10}`] as const);
  await start({ ...Object.fromEntries(hosts), 'good.test': '127.0.0.99' });
  for (const [name] of hosts) await activeSubscription(service, receiver.url('/slow', name));
  const other = { workspace: { id: 2 } };
  await activeSubscription(service, receiver.url('/good', 'good.test'), other);
  receiver.respond = ({ path }) => (path === '/slow' ? behave.hang() : behave.answer(204));
  await publish(service, { id: 1 });
  await eventually(async () => (await slots()).length === 8);
  await publish(service, { id: 2, ...other });
  await eventually(() => receiver.requests.some(({ path }) => path === '/good'));
  expect((await slots()).length).toBeLessThanOrEqual(9);
});

test('2,000 deliveries and two dispatchers: each is sent once, and no limit is ever exceeded', async () => {
  // 24 names on 20 addresses; 8 workspaces with 10 subscriptions each; 25 events each.
  const hosts = Array.from({ length: 24 }, (_, n) => [`h${n}.test`, `127.0.0.${1 + (n % 20)}`] as const);
  await start(Object.fromEntries(hosts));
  await service.another();
  for (let n = 0; n < 80; n += 1) {
    const workspace = Math.floor(n / 10) + 1;
    const [name = ''] = hosts[n % hosts.length] ?? [];
    await activeSubscription(service, receiver.url(`/${workspace}/${n}`, name), { workspace: { id: workspace } });
  }
  service.clock.advance(1);

  interface Arrival {
    minute: string;
    workspace: string;
    host: string;
    ip: string;
  }
  const arrivals: Arrival[] = [];
  const underWay = new Set<Arrival>();
  const peaks = { all: 0, workspace: 0, ip: 0 };
  receiver.respond = (request) => {
    const arrival: Arrival = {
      minute: windowOf(service.clock.now()),
      workspace: request.path.split('/')[1] ?? '',
      host: request.host,
      ip: addresses[request.host] ?? '',
    };
    arrivals.push(arrival);
    underWay.add(arrival);
    const now = [...underWay];
    peaks.all = Math.max(peaks.all, now.length);
    peaks.workspace = Math.max(peaks.workspace, most(now.map(({ workspace }) => workspace)));
    peaks.ip = Math.max(peaks.ip, most(now.map(({ ip }) => ip)));
    return (response) => {
      setTimeout(() => {
        underWay.delete(arrival);
        response.writeHead(204).end();
      }, 100);
    };
  };

  const events = Array.from({ length: 200 }, (_, n) => ({ id: n + 1, workspace: { id: (n % 8) + 1 } }));
  await publish(service, ...events);
  expect(await deliveries(service)).toHaveLength(2_000);
  for (let minute = 0; (await waiting()) > 0; minute += 1) {
    expect(minute).toBeLessThan(60);
    await quiet();
    service.clock.toNextMinute();
  }

  const all = await deliveries(service);
  expect(all.every(({ status }) => status === 'succeeded')).toBe(true);
  const sent = receiver.requests.map(({ headers, path }) => `${String(headers['webhook-id'])} ${path}`);
  expect({ sent: sent.length, different: new Set(sent).size }).toEqual({ sent: 2_000, different: 2_000 });
  expect(most(arrivals.map(({ minute }) => minute))).toBe(120);
  expect(most(arrivals.map(({ minute, workspace }) => `${minute} ${workspace}`))).toBeLessThanOrEqual(30);
  expect(most(arrivals.map(({ minute, host }) => `${minute} ${host}`))).toBeLessThanOrEqual(10);
  expect(most(arrivals.map(({ minute, ip }) => `${minute} ${ip}`))).toBeLessThanOrEqual(10);
  expect(peaks.all).toBeLessThanOrEqual(16);
  expect(peaks.workspace).toBeLessThanOrEqual(8);
  expect(peaks.ip).toBe(2);
}, 300_000);
