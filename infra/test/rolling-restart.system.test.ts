import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Client, eventually, httpClient, startReceiver } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { APP_NAMES, APPS, type AppName } from '../apps.ts';
import { findInstance } from '../data-dir.ts';
import { processesWith } from '../verification/systems/commands.ts';
import { BUSY_MACHINE, localHarness } from '../verification/systems/local-harness.ts';
import { type MixedLoad, startMixedLoad } from './mixed-load.ts';
import { running, runningCommand } from './running.ts';

const CLIENTS = 4;
describeWithServers('two processes of each app', () => {
  const harness = running(async () => localHarness(undefined, 2));
  const receiver = running(startReceiver);
  const command = runningCommand(async () => {
    await writeFile(path.join(harness.folder, 'ca.pem'), receiver.ca);
    return harness.start({
      ...BUSY_MACHINE,
      REPLICAS: '2',
      DRAIN_SECONDS: '2',
      DATABASE_POOL_SIZE: '4',
      RATE_LIMIT_PER_MINUTE: '1000000',
      NODE_EXTRA_CA_CERTS: path.join(harness.folder, 'ca.pem'),
      WEBHOOK_TEST_RECEIVERS: receiver.hostAndPort(),
    });
  });
  let token: string;
  /** A token of the workspace with a webhook, whose receiver gets at most ten requests a minute. */
  let watchedToken: string;
  const loads: MixedLoad[] = [];

  beforeAll(async () => {
    token = await harness.workspace('busy');
    watchedToken = await harness.workspace('watched');
    const { body } = await watched().post('/api/v1/settings/webhooks', { url: receiver.url('/hook') });
    await watched().post(`/api/v1/settings/webhooks/${body.webhook.id}/verify`);
    receiver.requests.length = 0;
  });

  afterEach(async () => {
    await Promise.all(loads.splice(0).map(async (load) => load.stop()));
  });

  const gatewayUrls = () => [0, 1].map((index) => `http://127.0.0.1:${harness.port + index}`);
  const clientOf = (slug: string, bearer: string, url = gatewayUrls()[0] ?? '') =>
    httpClient(url, { Host: `${slug}.localhost`, Authorization: `Bearer ${bearer}` });
  const watched = (url?: string) => clientOf('watched', watchedToken, url);

  function startLoad(): MixedLoad {
    const load = startMixedLoad({ gateways: gatewayUrls(), host: 'busy.localhost', token, clients: CLIENTS });
    loads.push(load);
    return load;
  }

  async function processesOf(app: AppName): Promise<number[]> {
    const running = await processesWith(`${APPS[app].folder}/src/main.ts`);
    return [...running].filter(([, { parent }]) => parent === command.pid).map(([pid]) => pid);
  }

  /** Whether both processes of the app are ready and reach everything. */
  async function isComplete(app: AppName): Promise<boolean> {
    const instance = await findInstance(harness.folder);
    const urls = (instance?.env[APPS[app].addressVariable] ?? '').split(',');
    const answers = await Promise.all(urls.map(async (url) => httpClient(url).get('/readyz')));
    return answers.every(
      ({ status, body }) => status === 200 && Object.values(body.dependencies).every((state) => state === 'up'),
    );
  }

  const allComplete = async () => {
    for (const app of APP_NAMES) await eventually(async () => isComplete(app), { what: `both of ${app}` });
  };

  async function countFeed(client: Client, type: string): Promise<number> {
    let count = 0;
    for (let position = 'from=beginning'; ;) {
      const { status, body } = await client.get(`/api/v1/events?types=${type}&limit=100&${position}`);
      expect(status).toBe(200);
      count += body.events.length;
      if (body.pagination.has_more !== true) return count;
      position = `after=${body.pagination.next_cursor}`;
    }
  }

  async function expectAllEvents({ totals }: MixedLoad): Promise<void> {
    const client = clientOf('busy', token);
    for (const [type, count] of [
      ['incident.created', totals.created],
      ['incident.updated', totals.updated],
    ] as const) {
      await eventually(async () => (await countFeed(client, type)) >= count, { what: `all ${type}` });
      expect(await countFeed(client, type)).toBe(count);
    }
  }

  test('can be restarted one after the other without a failed request or a lost event', async () => {
    await allComplete();
    const running = startLoad();
    const rows: { process: string; sent: number; failed: number }[] = [];
    const declared: string[] = [];
    const before = new Map<AppName, number[]>();
    for (const app of APP_NAMES) before.set(app, await processesOf(app));
    for (const replica of [0, 1]) {
      for (const [app, { [replica]: pid = 0 }] of before) {
        if (app === 'incident' || app === 'webhook') {
          const client = watched(running.nextGateway());
          const { status, body } = await client.post('/api/v1/incidents', { title: `${app} ${replica}` });
          expect(status).toBe(201);
          declared.push(body.incident.human_id);
        }
        const { sent, failures } = running.totals;
        const known = failures.length;
        process.kill(pid, 'SIGTERM');
        await eventually(() => !isRunning(pid), { what: `the end of ${app}` });
        rows.push({
          process: `${app} ${replica + 1}`,
          sent: running.totals.sent - sent,
          failed: running.totals.failures.length - known,
        });
      }
      await allComplete();
    }
    await running.stop();
    print(rows, running.totals);
    expect(running.totals.failures).toEqual([]);
    expect(rows.map(({ failed }) => failed)).toEqual(rows.map(() => 0));
    for (const { sent } of rows) expect(sent).toBeGreaterThan(0);
    await expectAllEvents(running);
    const delivered = () => new Set(receiver.requests.map(({ body }) => JSON.parse(body).resource.reference as string));
    await eventually(() => delivered().size === declared.length, { what: 'all deliveries' });
    expect([...delivered()].toSorted()).toEqual(declared.toSorted());
  });

  test('lose at most the writes under way when one of them is killed', async () => {
    const running = startLoad();
    await eventually(() => running.totals.sent > 100, { what: 'requests' });
    const [pid = 0] = await processesOf('incident');
    process.kill(pid, 'SIGKILL');
    const { sent } = running.totals;
    await eventually(() => running.totals.sent > sent + 300, { what: 'more requests' });
    await running.stop();
    const { failures } = running.totals;
    print(running.totals);
    expect(failures.filter(({ kind }) => kind === 'read')).toEqual([]);
    expect(failures.length).toBeLessThanOrEqual(CLIENTS);
    expect(failures.filter(({ outcome }) => !outcome.startsWith('503 '))).toEqual([]);
    await eventually(async () => isComplete('incident'), { what: 'both of incident' });
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** For the figures in the documentation. */
function print(...figures: unknown[]): void {
  if (process.env['TEST_LOG'] !== undefined) console.log(...figures);
}
