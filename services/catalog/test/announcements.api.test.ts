import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type App, createLogger, redisVersions, type Versions } from '@tocsin/runtime';
import { openRedis, type Redis } from '@tocsin/runtime/redis';
import {
  asUser,
  eventually,
  httpClient,
  type TcpProxy,
  tcpProxy,
  type ServiceHarness,
  serviceHarness,
  testServers,
} from '@tocsin/testing';
import { describeWithRedis } from '@tocsin/testing/suites';
import { startApp } from '../src/app.ts';
import { catalogConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { create, newWorkspace } from './service.ts';

describeWithRedis('a version that Redis did not accept, or lost', () => {
  const namespace = `tocsin-test-${randomBytes(4).toString('hex')}`;
  let harness: ServiceHarness;
  let proxy: TcpProxy;
  let redis: Redis;
  /** The versions as a replica reads them. */
  let versions: Versions;
  let app: App;

  const start = async () => {
    const closedPort = 'http://127.0.0.1:9';
    const config = catalogConfig({
      ...harness.settings,
      CATALOG_DATABASE_URL: harness.databaseUrl,
      GATEWAY_INTERNAL_URL: closedPort,
      INCIDENT_URL: closedPort,
      REDIS_URL: proxy.url,
      TOCSIN_NAMESPACE: namespace,
    });
    return startApp(config, harness.overrides);
  };

  beforeAll(async () => {
    harness = await serviceHarness('catalog', schema);
    const redisUrl = testServers().redisUrl ?? '';
    proxy = await tcpProxy(redisUrl);
    redis = openRedis({ url: redisUrl, namespace, log: createLogger({ app: 'test', level: 'silent' }) });
    versions = redisVersions(redis);
    await eventually(async () => redis.ping(), { what: 'the connection to Redis' });
    app = await start();
  });
  afterAll(async () => {
    await app.stop();
    redis.disconnect();
    await proxy.close();
    await harness.database.drop();
  });
  beforeEach(async () => {
    proxy.restore();
    const { workspace } = newWorkspace();
    // Wait until the service has a connection to Redis.
    const isAnnounced = async () => {
      await create(httpClient(app.url, asUser('catalog', { workspace })), 'team', { name: 'Warm' });
      return (await versions.read(['catalog'], workspace.id))[0] !== undefined;
    };
    await eventually(isAnnounced, { what: 'an announcement' });
  });

  const announced = async (workspaceId: number, version: number) =>
    eventually(async () => (await versions.read(['catalog'], workspaceId))[0] === version, {
      what: `version ${version}`,
    });

  test('is announced when Redis is back', async () => {
    const { workspace } = newWorkspace();
    const client = httpClient(app.url, asUser('catalog', { workspace }));
    await create(client, 'team', { name: 'First' });
    await announced(workspace.id, 1);
    proxy.cut();
    await create(client, 'team', { name: 'Second' });
    expect(await versions.read(['catalog'], workspace.id)).toEqual([1]);
    proxy.restore();
    await announced(workspace.id, 2);
  });

  test('is announced by the next process if this one stops before', async () => {
    const { workspace } = newWorkspace();
    proxy.cut();
    await create(httpClient(app.url, asUser('catalog', { workspace })), 'team', { name: 'First' });
    await app.stop();
    proxy.restore();
    app = await start();
    await announced(workspace.id, 1);
  });

  test('is announced again if Redis lost it, as after a failover to a replica that was behind', async () => {
    const { workspace } = newWorkspace();
    const client = httpClient(app.url, asUser('catalog', { workspace }));
    for (const name of ['First', 'Second']) await create(client, 'team', { name });
    await announced(workspace.id, 2);
    await redis.set(`version:catalog:${workspace.id}`, 1);
    await announced(workspace.id, 2);
  });
});
