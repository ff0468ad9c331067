import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually, reservePorts, tcpProxy, testServers } from '@tocsin/testing';
import { describeWithProgram, describeWithRedis } from '@tocsin/testing/suites';
import { createLogger } from '../src/index.ts';
import { openRedis, refuseRedisCluster } from '../src/redis.ts';

const log = createLogger({ app: 'test', level: 'silent' });
const open = (url: string) => openRedis({ url, namespace: 'test', log });

describeWithRedis('a Redis that vanishes without closing its connection', () => {
  test('fails commands at once, and is used again as soon as a new connection works', async () => {
    const proxy = await tcpProxy(testServers().redisUrl ?? '');
    const redis = open(proxy.url);
    try {
      await eventually(async () => redis.ping(), { what: 'the connection' });
      proxy.strand();
      await expect(redis.ping()).rejects.toThrow('Command timed out');
      await eventually(async () => redis.ping(), { what: 'another connection' });
    } finally {
      redis.disconnect();
      await proxy.close();
    }
  });
});

describeWithRedis('a Redis', () => {
  test('that is one server, or is down, is not refused', async () => {
    for (const url of [testServers().redisUrl ?? '', 'redis://127.0.0.1:1']) {
      const redis = open(url);
      await refuseRedisCluster(redis);
      redis.disconnect();
    }
  });
});

describeWithProgram('redis-server')('a Redis Cluster', () => {
  test('is refused by name', async () => {
    const [port = 0] = await reservePorts(1);
    const folder = await mkdtempDisposable(path.join(tmpdir(), 'tocsin-redis-'));
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder.path, '--cluster-enabled', 'yes'];
    const server = spawn('redis-server', options, { stdio: 'ignore' });
    const redis = open(`redis://127.0.0.1:${port}`);
    try {
      await eventually(() => redis.status === 'ready', { what: 'the connection' });
      await expect(refuseRedisCluster(redis)).rejects.toThrow('REDIS_URL: must not be a Redis Cluster');
    } finally {
      redis.disconnect();
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      await folder.remove();
    }
  });
});
