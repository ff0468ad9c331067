import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { withTimeout } from '@tocsin/runtime';
import { BUSY_MACHINE, type Answer, type Client, eventually, httpClient, tcpProxy } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { processesWith } from '../systems/commands.ts';
import { localHarness } from '../systems/local-harness.ts';
import { running, runningCommand, runningPostgres } from '../systems/running.ts';

/** Milliseconds in which a client learns that the database does not respond. */
const REFUSED_WITHIN = 12_000;

describeWithServers('a database that does not respond', () => {
  const harness = running(localHarness);
  const postgres = runningPostgres(harness, { durable: false });
  const proxy = running(
    async () => tcpProxy(postgres.url.replace(/\/postgres$/, '/tocsin')),
    async ({ close }) => close(),
  );
  const services = runningCommand(() => harness.start({ ...BUSY_MACHINE, DATABASE_URL: proxy.url }));
  let baseUrl: string;
  let client: Client;
  let stopped: number[] = [];

  // Before the apps are stopped, they get their database back.
  running(
    async () => ({}),
    async () => {
      proxy.restore();
      continueServer();
    },
  );
  beforeAll(async () => {
    baseUrl = await services.ready();
    const token = await harness.workspace('acme');
    client = httpClient(baseUrl, { Host: 'acme.localhost', Authorization: `Bearer ${token}` });
  });

  /** Stops all processes of the server, which the system keeps connected. */
  async function stopServer(): Promise<void> {
    const file = path.join(harness.folder, 'database', 'postmaster.pid');
    const postmaster = Number((await readFile(file, 'utf8')).split('\n')[0]);
    const children = [...(await processesWith('postgres'))].filter(([, { parent }]) => parent === postmaster);
    stopped = [postmaster, ...children.map(([pid]) => pid)];
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
  }

  function continueServer(): void {
    for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
  }

  const readIncidents = async () => client.get('/api/v1/incidents');
  const createTeam = async (name: string) => client.post('/api/v1/teams', { name }, { 'Idempotency-Key': name });

  const isServed = async (name: string) =>
    eventually(
      async () => (await readIncidents()).status === 200 && [200, 201].includes((await createTeam(name)).status),
      { what: 'the service' },
    );

  const refused = async (answer: Promise<Answer>) =>
    withTimeout(answer, REFUSED_WITHIN, () => {
      throw new Error('the client waits');
    });

  test.each(['hangs', 'vanishes'])('%s: 503 within seconds, and service soon after', async (how) => {
    await isServed(`before-${how}`);
    if (how === 'hangs') await stopServer();
    else proxy.stall();
    const answers = await Promise.all([refused(readIncidents()), refused(createTeam(`during-${how}`))]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
      expect(answer.headers.get('Retry-After')).toBe('1');
    }
    // A process that cannot reach its database is not broken itself.
    expect((await httpClient(baseUrl).get('/healthz')).status).toBe(200);
    await eventually(async () => (await httpClient(baseUrl).get('/readyz')).status === 503, { what: 'unreadiness' });

    continueServer();
    proxy.restore();
    await isServed(`after-${how}`);
    // The key of the refused create: once, whatever became of the first attempt.
    await eventually(async () => [200, 201].includes((await createTeam(`during-${how}`)).status), {
      what: 'the repeated create',
    });
    const { body } = await client.get('/api/v1/teams?limit=100');
    expect(body.teams.filter(({ name }: { name: string }) => name === `during-${how}`)).toHaveLength(1);
    await eventually(async () => (await httpClient(baseUrl).get('/readyz')).status === 200, { what: 'readiness' });
  });

  test('that is reachable at another address is used at once, although the old connections stay silent', async () => {
    await isServed('before-the-move');
    proxy.strand();
    await isServed('after-the-move');
  });
});
