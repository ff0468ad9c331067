import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@tocsin/runtime';
import { openRedis, type Redis } from '@tocsin/runtime/redis';
import { type Client, eventually, removeTopology, type TcpProxy, tcpProxy, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { startSystem, type System } from '../../../../infra/verification/systems/system.ts';

describeWithServers('a version that Redis acknowledged and lost', () => {
  let broker: TcpProxy;
  let redis: Redis;
  let system: System;
  let client: Client;
  beforeAll(async () => {
    broker = await tcpProxy(testServers().amqpUrl ?? '');
    system = await startSystem({ amqpUrl: broker.url });
    client = await system.as();
    redis = openRedis({
      url: testServers().redisUrl ?? '',
      namespace: system.namespace,
      log: createLogger({ app: 'test', level: 'silent' }),
    });
    await eventually(async () => redis.ping(), { what: 'the connection to Redis' });
  });
  afterAll(async () => {
    redis.disconnect();
    await system.stop();
    await broker.close();
    await removeTopology(testServers().amqpUrl ?? '', system.namespace);
  });

  test('does not cause the rejection of a team that was created', async () => {
    await client.post('/api/v1/teams', { name: 'First' });
    expect((await client.post('/api/v1/incidents', { title: 'Down' })).status).toBe(201);
    // From here on no event announces changes.
    broker.cut();
    const key =
      (await redis.keys(`${system.namespace}:version:catalog:*`))[0]?.slice(system.namespace.length + 1) ?? '';
    const before = (await redis.get(key)) ?? '';
    const { status, body } = await client.post('/api/v1/teams', { name: 'Second' });
    expect(status).toBe(201);
    await redis.set(key, before);
    const declared = await client.post('/api/v1/incidents', { title: 'Down', team_id: body.team.id });
    expect(declared).toMatchObject({ status: 201, body: { incident: { team_id: body.team.id } } });
  });
});
