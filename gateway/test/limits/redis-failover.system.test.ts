import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { createLogger } from '@tocsin/runtime';
import { openRedis } from '@tocsin/runtime/redis';
import { eventually, reservePorts, tcpProxy } from '@tocsin/testing';
import { closedAfterEach, describeWithProgram } from '@tocsin/testing/suites';
import { type GatewayHarness, startGatewayHarness } from '../gateway-harness.ts';

const REDIS = 'redis-server';
const PATH = '/api/v1/incidents';
const silent = createLogger({ app: 'test', level: 'silent' });
const opened = closedAfterEach();

/** A Redis of its own, which can become the replica of another one. */
async function startRedis(port: number) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-redis-'));
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const server = spawn(REDIS, options, { stdio: 'ignore' });
  const url = `redis://127.0.0.1:${port}`;
  const client = openRedis({ url, namespace: 'test', log: silent });
  await eventually(async () => client.ping(), { what: 'a Redis that responds' });
  return opened({
    url,
    replicate: async (of: number | undefined) => {
      await (of === undefined ? client.replicaof('no', 'one') : client.replicaof('127.0.0.1', of));
      const role = of === undefined ? 'master' : 'slave';
      await eventually(async () => (await client.info('replication')).includes(`role:${role}`));
    },
    close: async () => {
      client.disconnect();
      const ended = once(server, 'exit');
      server.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  });
}

describeWithProgram(REDIS)('a failover of Redis behind one address', () => {
  test('is reported, and gateways count together as soon as the address leads to the new primary', async () => {
    const [first = 0, second = 0] = await reservePorts(2);
    const one = await startRedis(first);
    const other = await startRedis(second);
    const address = opened(await tcpProxy(one.url));
    const env = { REDIS_URL: address.url, RATE_LIMIT_PER_MINUTE: '3' };
    const gateway = opened(await startGatewayHarness({ env, withRedis: true }));
    const gateways = [gateway, opened(await startGatewayHarness({ env, withRedis: true, database: gateway.database }))];
    const isReported = async (each: GatewayHarness, state: 'up' | 'down') =>
      (await each.dependencies())['redis'] === state &&
      (await each.metrics()).includes(
        `tocsin_dependency_up{dependency="redis",app="gateway"} ${state === 'up' ? 1 : 0}`,
      );
    const reported = async (state: 'up' | 'down') =>
      eventually(
        async () => (await Promise.all(gateways.map(async (each) => isReported(each, state)))).every(Boolean),
        {
          what: `a Redis that is ${state}`,
        },
      );
    let workspaces = 0;
    /** Of requests to each gateway in turn, in a workspace that nothing has been counted for. */
    const statuses = async () => {
      const slug = `w${(workspaces += 1)}`;
      const user = { workspace: slug, email: `ana@${slug}.example` };
      await gateway.admin.createWorkspace({ slug, name: slug });
      await gateway.admin.createUser({ ...user, name: 'Ana', role: 'owner', seat: 'responder' });
      const key = { workspace: slug, user: user.email, name: 'test', scopes: ['incidents:read'] };
      const { token } = await gateway.admin.createKey(key);
      const found: number[] = [];
      for (const each of [...gateways, ...gateways]) {
        found.push((await each.send({ path: PATH, token, host: `${slug}.localhost` })).status);
      }
      return found;
    };

    await reported('up');
    expect(await statuses()).toEqual([200, 200, 200, 429]);

    // The other one is the primary now; the address still leads to this one, which can only be read.
    await one.replicate(second);
    await reported('down');
    // Each gateway counts for itself.
    expect(await statuses()).toEqual([200, 200, 200, 200]);

    address.lead(other.url);
    await reported('up');
    await eventually(async () => (await statuses()).join() === '200,200,200,429', { what: 'one count of both' });
  });
});
