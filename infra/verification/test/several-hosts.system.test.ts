import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@tocsin/runtime';
import { openRedis } from '@tocsin/runtime/redis';
import {
  BUSY_MACHINE,
  eventually,
  httpClient,
  reservePorts,
  tcpProxy,
  type TcpProxy,
  testServers,
} from '@tocsin/testing';
import { describeWithBroker, describeWithProgram } from '@tocsin/testing/suites';
import { withClient } from '../../installation/databases.ts';
import { localHarness } from '../systems/local-harness.ts';
import { type PostgresPair, startPostgresPair } from '../systems/postgres-pair.ts';
import { running } from '../systems/running.ts';

const REDIS = 'redis-server';

/** A Redis with a replica, and a Sentinel that makes the replica the primary within a second. */
async function startRedisPair(folder: string) {
  const [primary = 0, replica = 0, sentinel = 0] = await reservePorts(3);
  const processes = new Map<number, ChildProcess>();
  const start = async (port: number, settings: string) => {
    const own = path.join(folder, `redis-${port}`);
    await mkdir(own);
    const file = path.join(own, 'redis.conf');
    await writeFile(file, `port ${port}\nbind 127.0.0.1\ndir ${own}\n${settings}\n`);
    processes.set(port, spawn(REDIS, [file, ...(port === sentinel ? ['--sentinel'] : [])], { stdio: 'ignore' }));
    const redis = openRedis({
      url: `redis://127.0.0.1:${port}`,
      namespace: '',
      log: createLogger({ app: 'test', level: 'silent' }),
    });
    await eventually(() => redis.status === 'ready', { what: `Redis on ${port}` });
    return redis;
  };
  const clients = [
    await start(primary, 'save ""'),
    await start(replica, `save ""\nreplicaof 127.0.0.1 ${primary}`),
    await start(
      sentinel,
      `sentinel monitor tocsin 127.0.0.1 ${primary} 1\nsentinel down-after-milliseconds tocsin 500\nsentinel failover-timeout tocsin 2000`,
    ),
  ];
  await eventually(async () => {
    const info = await clients[2]?.info('sentinel');
    return info?.includes('slaves=1') === true;
  });
  for (const client of clients) client.disconnect();
  return {
    url: `redis-sentinel://127.0.0.1:1,127.0.0.1:${sentinel}?master=tocsin`,
    failOver: () => void processes.get(primary)?.kill('SIGKILL'),
    stop: async () =>
      Promise.all(
        [...processes.values()].map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          child.kill('SIGKILL');
          await ended;
        }),
      ),
  };
}

describeWithBroker('an installation whose servers have several hosts', () => {
  describeWithProgram(REDIS)('with Redis', () => {
    const harness = running(localHarness);
    const databases: PostgresPair = running(async () => {
      await chmod(harness.folder, 0o711);
      return startPostgresPair(harness.folder);
    });
    const redis = running(async () => startRedisPair(harness.folder));
    const nodes: TcpProxy[] = [];
    beforeAll(async () => {
      const { amqpUrl = '' } = testServers();
      nodes.push(await tcpProxy(amqpUrl), await tcpProxy(amqpUrl));
    });
    afterAll(async () => {
      for (const node of nodes) await node.close();
    });

    test('goes on when the one of each that works dies, without the loss of an incident, an event or a cursor', async () => {
      const [first, second] = nodes as [TcpProxy, TcpProxy];
      first.cut();
      const broker = new URL(first.url);
      const services = harness.start({
        ...BUSY_MACHINE,
        DATABASE_URL: databases.url('tocsin'),
        AMQP_URL: first.url.replace(broker.host, `${broker.host},${new URL(second.url).host}`),
        REDIS_URL: redis.url,
      });
      try {
        const url = await services.ready();
        const token = await harness.workspace('acme');
        const client = httpClient(url, { Host: 'acme.localhost', Authorization: `Bearer ${token}` });
        const declare = async (title: string) => {
          const { status, body } = await client.post('/api/v1/incidents', { title }, { 'Idempotency-Key': title });
          return status === 201 && (body.incident.id as number);
        };
        const read = async (query: string) => (await client.get(`/api/v1/events?${query}`)).body;
        const before = await declare('Before');
        const { pagination } = await eventually(async () => {
          const page = await read('from=beginning&types=incident.created');
          return page.events.length === 1 && page;
        });

        // No standby has what a session commits that an operator ends meanwhile: its repetition is answered only with one.
        const release = await databases.holdStandby();
        const rowsOf = async <Row extends object>(statement: string): Promise<Row[]> =>
          withClient(
            databases.primaryUrl.replace(/postgres$/, 'tocsin'),
            async (sql) => (await sql.query<Row>(statement)).rows,
          );
        const finds = async (statement: string) => (await rowsOf(statement)).length === 1;
        expect(await declare('Cancelled')).toBe(false);
        await finds(`select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`);
        const isVisible = `select 1 from incident.idempotency_keys where key = 'Cancelled'`;
        await eventually(async () => finds(isVisible), { what: 'the end of the create' });
        const repeated = declare('Cancelled');
        const confirms = `select 1 from pg_stat_activity where wait_event = 'SyncRep' and query like '%update idempotency_keys%'`;
        await eventually(async () => finds(confirms), { what: 'a repetition that waits for the standby' });
        release();
        const cancelled = await repeated;
        expect(cancelled).not.toBe(false);
        const page = await eventually(async () => {
          const next = await read(`after=${pagination.next_cursor}&types=incident.created`);
          return next.events.length === 1 && next;
        });
        expect(page.events[0].data.incident.id).toBe(cancelled);

        // Neither has it an event whose recording was cancelled: no reader gets a cursor behind that before.
        const resume = await databases.holdStandby();
        const [feed] = await rowsOf<{ position: number }>('select position from webhook.feed_workspaces');
        const declared = declare('Unconfirmed');
        const isRecorded = `select 1 from webhook.feed_workspaces where position > ${feed?.position}`;
        await eventually(
          async () => {
            await finds(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`);
            return finds(isRecorded);
          },
          { what: 'an event that no standby has' },
        );
        const behind = async () => read(`after=${page.pagination.next_cursor}&types=incident.created`);
        const early = behind();
        const waits = `select 1 from pg_stat_activity where wait_event = 'SyncRep' and query like '%pg_logical_emit%'`;
        await eventually(async () => finds(waits), { what: 'a reader that waits for the standby' });
        resume();
        const unconfirmed = await declared;
        await early;
        const last = await eventually(async () => {
          const next = await behind();
          return next.events?.length === 1 && next;
        });
        expect(last.events[0].data.incident.id).toBe(unconfirmed);

        await databases.failOver();
        redis.failOver();
        first.restore();
        second.cut();

        const after = await eventually(async () => declare('After'), { what: 'a create after the failure' });
        expect((await client.get(`/api/v1/incidents/${before}`)).status).toBe(200);
        const events = await eventually(async () => {
          const next = await read(`after=${last.pagination.next_cursor}&types=incident.created`);
          return next.events?.length > 0 && next.events;
        });
        expect(events.map(({ data }: { data: { incident: { id: number } } }) => data.incident.id)).toEqual([after]);
        const chosen = openRedis({
          url: redis.url,
          namespace: '',
          log: createLogger({ app: 'test', level: 'silent' }),
        });
        await eventually(async () => chosen.flushall().catch(() => false), { what: 'a Redis that takes writes' });
        await eventually(
          async () => {
            await client.get(`/api/v1/incidents/${before}`);
            return (await chosen.dbsize()) > 0;
          },
          { what: 'requests that are counted in the Redis that the Sentinel has chosen' },
        );
        chosen.disconnect();
      } finally {
        services.signal('SIGTERM');
        await services.ended();
      }
    });
  });
});
