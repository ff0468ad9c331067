import { expect, test } from '@jest/globals';
import { eventually, tcpProxy, testServers } from '@tocsin/testing';
import { describeWithRedis } from '@tocsin/testing/suites';
import { createLogger, openRedis } from '../src/index.ts';

describeWithRedis('a Redis that vanishes without closing its connection', () => {
  test('fails commands at once, and is used again as soon as a new connection works', async () => {
    const proxy = await tcpProxy(testServers().redisUrl ?? '');
    const redis = openRedis({ url: proxy.url, namespace: 'test', log: createLogger({ app: 'test', level: 'silent' }) });
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
