import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { windowStart } from '../src/requests/domain/limits.ts';
import { behave, eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { activeSubscription, deliveries, publish, settled, startService, type TestService } from './service.ts';

let service: TestService;
let receiver: Receiver;
/** The address of each host name. */
let addresses: Record<string, string>;

/** Starts a receiver on many loopback addresses, with these host names. */
async function start(addressesByName: Record<string, string>, settings: Record<string, string> = {}): Promise<void> {
  addresses = addressesByName;
  const names = Object.keys(addressesByName);
  receiver = await startReceiver({ names, host: '0.0.0.0' });
  service = await startService({
    receivers: [receiver],
    testReceivers: names.map((name) => receiver.hostAndPort(name)),
    // On a busy machine, a response may take longer than a receiver has in production.
    overrides: { resolve, requestTimeout: 60_000 },
    settings,
  });
  service.clock.toNextMinute();
}
const resolve = async (host: string) => [addresses[host] ?? '127.0.0.1'];
afterEach(async () => {
  receiver.closeConnections();
  await service.stop();
  await receiver.stop();
});

const slots = async () => service.knex('slots').select<{ ip: string | null }[]>('ip');
const waiting = async () => (await deliveries(service)).filter(({ status }) => status === 'queued').length;

/**
 * Waits until no request is in progress and none can start in this minute: the state stays the same for a while, which is
 * longer on a slower machine.
 */
async function untilIdle(): Promise<void> {
  const readState = async () =>
    JSON.stringify([await slots(), await service.knex('windows').select('scope', 'key', 'used')]);
  await eventually(
    async () => {
      const start = performance.now();
      const before = await readState();
      await delay(200 + 10 * (performance.now() - start));
      return (await slots()).length === 0 && before === (await readState());
    },
    { what: 'requests to stop' },
  );
}

/** The number of occurrences of the most frequent key. */
const maxCount = (keys: readonly string[]) =>
  Math.max(0, ...[...Map.groupBy(keys, (key) => key).values()].map((same) => same.length));

test('the operator sets the windows and the slots', async () => {
  await start(
    { 'one.test': '127.0.0.1' },
    { WEBHOOK_DELIVERIES_PER_MINUTE_PER_RECEIVER: '4', WEBHOOK_MAX_REQUESTS_PER_RECEIVER: '3' },
  );
  await activeSubscription(service, receiver.url('/', 'one.test'));
  receiver.respond = () => behave.hang();
  await publish(service, ...Array.from({ length: 8 }, (_, n) => ({ id: n + 1 })));
  await eventually(() => receiver.requests.length === 3);
  expect(await slots()).toHaveLength(3);
  receiver.respond = () => behave.answer(204);
  receiver.closeConnections();
  await untilIdle();
  expect(receiver.requests).toHaveLength(4);
});

describe('an address', () => {
  test('whose window turns out to be full after the claim defers the delivery and uses an attempt', async () => {
    await start({ 'a.test': '127.0.0.1', 'b.test': '127.0.0.1' });
    await activeSubscription(service, receiver.url('/a', 'a.test'));
    await publish(service, ...Array.from({ length: 10 }, (_, n) => ({ id: n + 1 })));
    await eventually(async () => (await waiting()) === 0);
    const other = { workspace: { id: 2 } };
    await activeSubscription(service, receiver.url('/b', 'b.test'), other);
    await publish(service, { id: 11, ...other });
    await eventually(async () => (await deliveries(service))[10]?.attempts === 1);
    await untilIdle();
    expect((await deliveries(service))[10]).toMatchObject({
      status: 'queued',
      attempts: 1,
      failed_attempts: 0,
      last_error: null,
      due_at: new Date(Date.parse(windowStart(service.clock.now())) + 60_000).toISOString(),
    });
    expect(receiver.requests).toHaveLength(10);

    // The name's address is known now, so the next delivery waits without an attempt.
    await publish(service, { id: 12, ...other });
    await untilIdle();
    expect((await deliveries(service))[11]).toMatchObject({ status: 'queued', attempts: 0 });

    service.clock.toNextMinute();
    await eventually(async () => (await waiting()) === 0);
    expect((await deliveries(service)).slice(10)).toMatchObject([
      { status: 'succeeded', attempts: 2 },
      { status: 'succeeded', attempts: 1 },
    ]);
  });

  test('whose window is always full makes the delivery fail after eight attempts', async () => {
    await start({ 'a.test': '127.0.0.1' });
    await activeSubscription(service, receiver.url('/', 'a.test'));
    /** Moves to the next minute, with a full window for the address and without a known address for the name. */
    const nextMinute = async () => {
      const minute = new Date(Date.parse(windowStart(service.clock.now())) + 60_000).toISOString();
      await service.knex('windows').insert({ minute, scope: 'delivery:ip', key: '127.0.0.1', used: 10 });
      await service.knex('host_addresses').delete();
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

  test('receives two concurrent requests, whatever the host names', async () => {
    await start({ 'a.test': '127.0.0.1', 'b.test': '127.0.0.1', 'c.test': '127.0.0.1' });
    for (const [n, name] of ['a.test', 'b.test', 'c.test'].entries()) {
      await activeSubscription(service, receiver.url(`/${name}`, name), { workspace: { id: n + 1 } });
    }
    const responses: (() => void)[] = [];
    receiver.respond = () => (response) => void responses.push(() => void response.writeHead(204).end());
    await publish(service, { workspace: { id: 1 } }, { workspace: { id: 2 } }, { workspace: { id: 3 } });
    await eventually(() => responses.length === 2);
    await eventually(async () => (await slots()).length === 2);
    expect(responses).toHaveLength(2);
    // The third was released after the DNS lookup, which does not count as an attempt.
    expect((await deliveries(service)).map(({ attempts }) => attempts).sort()).toEqual([0, 1, 1]);
    responses[0]!();
    await eventually(() => responses.length === 3);
    responses.slice(1).forEach((respond) => respond());
    await eventually(async () => (await waiting()) === 0);
    expect((await deliveries(service)).every(({ status, attempts }) => status === 'succeeded' && attempts === 1)).toBe(
      true,
    );
  });
});

test('a workspace whose receivers hang uses half of the slots, and others continue', async () => {
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

test('while the claim of one process is not committed, another process claims and sends', async () => {
  await start({ 'a.test': '127.0.0.1', 'b.test': '127.0.0.2' });
  await service.startReplica();
  const other = { workspace: { id: 2 } };
  await activeSubscription(service, receiver.url('/a', 'a.test'));
  await activeSubscription(service, receiver.url('/b', 'b.test'), other);
  service.clock.toNextMinute();
  const paths = () => receiver.requests.map(({ path }) => path);
  receiver.requests.length = 0;
  await service.knex.transaction(async (trx) => {
    // The claim of the first workspace cannot count its request, and so cannot end.
    const window = { scope: 'delivery:workspace', key: '1', used: 0 };
    await trx('windows').insert({ ...window, minute: windowStart(service.clock.now()) });
    await publish(service, { id: 1 });
    const isBlocked = `select 1 from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%insert into windows%' and datname = current_database()`;
    await eventually(async () => (await service.knex.raw(isBlocked)).rows.length === 1, { what: 'a claim to wait' });
    await publish(service, { id: 2, ...other });
    await eventually(() => receiver.requests.length > 0, { what: 'a request of the other process' });
    expect(paths()).toEqual(['/b']);
  });
  await eventually(() => receiver.requests.length === 2);
  expect(paths()).toEqual(['/b', '/a']);
});

test('800 deliveries with two dispatchers are each sent once, and no limit is exceeded', async () => {
  // 24 names on 20 addresses; 8 workspaces with 10 subscriptions each; 10 events each.
  const hosts = Array.from({ length: 24 }, (_, n) => [`h${n}.test`, `127.0.0.${1 + (n % 20)}`] as const);
  await start(Object.fromEntries(hosts));
  await service.startReplica();
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
  const inProgress = new Set<Arrival>();
  const peaks = { all: 0, workspace: 0, ip: 0 };
  receiver.respond = (request) => {
    const arrival: Arrival = {
      minute: windowStart(service.clock.now()),
      workspace: request.path.split('/')[1] ?? '',
      host: request.host,
      ip: addresses[request.host] ?? '',
    };
    arrivals.push(arrival);
    inProgress.add(arrival);
    const now = [...inProgress];
    peaks.all = Math.max(peaks.all, now.length);
    peaks.workspace = Math.max(peaks.workspace, maxCount(now.map(({ workspace }) => workspace)));
    peaks.ip = Math.max(peaks.ip, maxCount(now.map(({ ip }) => ip)));
    return (response) => {
      setTimeout(() => {
        inProgress.delete(arrival);
        response.writeHead(204).end();
      }, 20);
    };
  };

  const events = Array.from({ length: 80 }, (_, n) => ({ id: n + 1, workspace: { id: (n % 8) + 1 } }));
  await publish(service, ...events);
  expect(await deliveries(service)).toHaveLength(800);
  for (let minute = 0; (await waiting()) > 0; minute += 1) {
    expect(minute).toBeLessThan(30);
    await untilIdle();
    service.clock.toNextMinute();
  }

  const all = await deliveries(service);
  expect(all.every(({ status }) => status === 'succeeded')).toBe(true);
  const sent = receiver.requests.map(({ headers, path }) => `${String(headers['webhook-id'])} ${path}`);
  expect({ sent: sent.length, different: new Set(sent).size }).toEqual({ sent: 800, different: 800 });
  expect(maxCount(arrivals.map(({ minute }) => minute))).toBe(120);
  expect(maxCount(arrivals.map(({ minute, workspace }) => `${minute} ${workspace}`))).toBeLessThanOrEqual(30);
  expect(maxCount(arrivals.map(({ minute, host }) => `${minute} ${host}`))).toBeLessThanOrEqual(10);
  expect(maxCount(arrivals.map(({ minute, ip }) => `${minute} ${ip}`))).toBeLessThanOrEqual(10);
  expect(peaks.all).toBeLessThanOrEqual(16);
  expect(peaks.workspace).toBeLessThanOrEqual(8);
  expect(peaks.ip).toBe(2);
});
