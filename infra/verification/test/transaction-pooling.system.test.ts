import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { SCOPES } from '@tocsin/schemas';
import { BUSY_MACHINE, eventually, httpClient, openEventStream, startReceiver } from '@tocsin/testing';
import { describeWithServers, describeWithTransactionPooler } from '@tocsin/testing/suites';
import { startRun } from '../history/run.ts';
import { localHarness } from '../systems/local-harness.ts';
import { findReplicas } from '../systems/processes.ts';
import { running, runningCommand } from '../systems/running.ts';
import { startTransactionPooler } from '../systems/transaction-pooler.ts';

/** Processes of each app. */
const REPLICAS = 2;
/** Sessions of each role at the pooler: fewer than the connections of two processes. */
const POOL_SIZE = 5;
/** Promised: a token that is revoked is refused by every gateway after it (contract: Authentication). Milliseconds. */
const PROMISE = 1_000;

describeWithServers('two processes of each app', () => {
  describeWithTransactionPooler('behind a pooler in transaction mode', () => {
    const harness = running(async () => localHarness(REPLICAS));
    const receiver = running(startReceiver);
    const pooler = running(async () => startTransactionPooler(harness.databaseUrl, { poolSize: POOL_SIZE }));
    const apps = runningCommand(async () => {
      const certificate = path.join(harness.folder, 'ca.pem');
      await writeFile(certificate, receiver.ca);
      return harness.start({
        ...BUSY_MACHINE,
        ...pooler.settings,
        REPLICAS: String(REPLICAS),
        RATE_LIMIT_PER_MINUTE: '1000000',
        NODE_EXTRA_CA_CERTS: certificate,
        WEBHOOK_TEST_RECEIVERS: receiver.hostAndPort(),
      });
    });
    const gateways = () => Array.from({ length: REPLICAS }, (_, index) => `http://127.0.0.1:${harness.port + index}`);
    const clientsOf = (workspace: string, token: string) =>
      gateways().map((url) => httpClient(url, { Host: `${workspace}.localhost`, Authorization: `Bearer ${token}` }));

    test('keep all that clients, readers and receivers see consistent, with no connection of their own', async () => {
      await apps.ready();
      const run = await startRun({
        ...{ gateways: gateways(), seed: 1, pause: 20 },
        workspaces: [
          { slug: 'busy', token: await harness.workspace('busy'), clients: 4, rounds: 40 },
          {
            ...{ slug: 'watched', token: await harness.workspace('watched'), clients: 2, rounds: 30 },
            ...{ mayDeclare: () => 5, receiver: { server: receiver, url: receiver.url() } },
          },
        ],
      });
      await eventually(() => run.history.operations.length > 50, { what: 'requests' });
      const sessions = await pooler.sessions();
      expect(sessions.filter(({ isPooled }) => !isPooled)).toEqual([]);
      for (const [role, ofRole] of Map.groupBy(sessions, (session) => session.role))
        expect([role, ofRole.length <= POOL_SIZE]).toEqual([role, true]);
      expect((await run.finish()).slice(0, 5)).toEqual([]);
      expect(run.history.operations.filter(({ status = 503, isCut }) => status >= 500 && !isCut)).toEqual([]);
      expect((await findReplicas(apps.pid)).get('webhook')).toHaveLength(REPLICAS);
    });

    test('refuse a revoked token within a second, at every gateway, also on a stream', async () => {
      const [one, other] = clientsOf('acme', await harness.workspace('acme'));
      const { body } = (await one?.post('/api/v1/settings/api-keys', { name: 'short', scopes: [...SCOPES] })) ?? {};
      const own = clientsOf('acme', body.token);
      for (const client of own) expect((await client.get('/api/v1/incidents')).status).toBe(200);
      const streams = await Promise.all(
        gateways().map(async (url) =>
          openEventStream(`${url}/api/v1/events`, { Host: 'acme.localhost', Authorization: `Bearer ${body.token}` }),
        ),
      );
      expect(streams.map(({ response }) => response.statusCode)).toEqual(gateways().map(() => 200));
      expect((await other?.post(`/api/v1/settings/api-keys/${body.api_key.id}/revoke`, {}))?.status).toBe(200);
      await delay(PROMISE);
      for (const client of own) expect((await client.get('/api/v1/incidents')).status).toBe(401);
      await Promise.all(streams.map(async ({ ended }) => ended));
    });

    test('apply what an administrator changes in the database', async () => {
      const token = await harness.workspace('admin');
      const [, client] = clientsOf('admin', token);
      expect((await client?.get('/api/v1/incidents'))?.status).toBe(200);
      await harness.admin('user', 'deactivate', '--workspace', 'admin', '--email', 'ana@admin.example');
      await delay(PROMISE);
      expect((await client?.get('/api/v1/incidents'))?.status).toBe(401);
    });

    test('wake long polls and streams at both gateways', async () => {
      const token = await harness.workspace('waiting');
      const clients = clientsOf('waiting', token);
      const { pagination } = (await clients[0]?.get('/api/v1/events?from=now'))?.body ?? {};
      const streams = await Promise.all(
        gateways().map(async (url) =>
          openEventStream(`${url}/api/v1/events?after=${pagination.next_cursor}&types=incident.created`, {
            ...{ Host: 'waiting.localhost', Authorization: `Bearer ${token}` },
          }),
        ),
      );
      const polls = clients.map(async (client) =>
        client.get(`/api/v1/events?after=${pagination.next_cursor}&types=incident.created&wait=20`),
      );
      expect((await clients[1]?.post('/api/v1/incidents', { title: 'Woken' }))?.status).toBe(201);
      for (const { body } of await Promise.all(polls)) expect(body.events).toHaveLength(1);
      for (const stream of streams) {
        await eventually(() => stream.messages.some(({ event }) => event === 'incident.created'));
        stream.close();
      }
    });
  });
});
