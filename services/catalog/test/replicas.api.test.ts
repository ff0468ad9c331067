import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deadLetterQueueName, type EventType, exchangeName, QUEUES, queueName } from '@tocsin/contracts';
import { AmqpBroker } from '@tocsin/messaging';
import { type App, createLogger, openRedis, type Redis, redisVersions } from '@tocsin/runtime';
import {
  asUser,
  createTestDatabase,
  eventually,
  httpClient,
  TEST_SECRET_KEYS,
  type TestDatabase,
  testServers,
} from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import { startApp } from '../src/app.ts';
import { catalogConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { type FakeInternalServices, startInternalServices } from './fakes/internal-services.ts';
import { create, newWorkspace } from './service.ts';

describeWithServers('two processes of the service on real servers', () => {
  const namespace = `catalog-${randomBytes(4).toString('hex')}`;
  const log = createLogger({ app: 'test', level: 'silent' });
  let database: TestDatabase;
  let internalServices: FakeInternalServices;
  let apps: App[];
  let broker: AmqpBroker;
  let redis: Redis;

  beforeAll(async () => {
    const { amqpUrl = '', redisUrl = '' } = testServers();
    database = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
    internalServices = await startInternalServices();
    const config = catalogConfig({
      NODE_ENV: 'test',
      TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
      TOCSIN_NAMESPACE: namespace,
      CATALOG_DATABASE_URL: database.url(schema.name),
      AMQP_URL: amqpUrl,
      REDIS_URL: redisUrl,
      GATEWAY_INTERNAL_URL: internalServices.url,
      INCIDENT_URL: internalServices.url,
    });
    apps = await Promise.all([startApp(config, { log }), startApp(config, { log })]);
    broker = new AmqpBroker({ url: amqpUrl, namespace, log });
    redis = openRedis({ url: redisUrl, namespace, log });
    for (const { url } of apps) {
      await eventually(async () => {
        const { dependencies } = (await httpClient(url).get('/readyz')).body;
        return dependencies.broker === 'up' && dependencies.redis === 'up';
      });
    }
    await eventually(() => broker.connected);
  });

  afterAll(async () => {
    await Promise.all(apps.map(async (app) => app.stop()));
    await broker.close();
    redis.disconnect();
    await internalServices.stop();
    await database.drop();
    const connection = await connect(testServers().amqpUrl ?? '');
    const channel = await connection.createChannel();
    for (const queue of Object.values(QUEUES)) {
      await channel.deleteQueue(queueName(namespace, queue));
      await channel.deleteQueue(deadLetterQueueName(namespace, queue));
    }
    await channel.deleteExchange(exchangeName(namespace));
    await connection.close();
  });

  test('both publish changes, and both apply user events', async () => {
    const user = newWorkspace(1);
    const { id: workspaceId, slug } = user.workspace;
    const versions = redisVersions(redis);
    const events: { type: EventType; version: number }[] = [];
    broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
      const { type, data, workspace } = JSON.parse(body.toString());
      if (workspace.id === workspaceId && type !== 'user.changed') events.push({ type, version: data.version });
      return 'ack';
    });
    const [first, second] = apps.map(({ url }) => httpClient(url, asUser('catalog', user)));
    internalServices.setUser(workspaceId, { id: workspaceId });

    const team = await create(first!, 'team', { name: 't' });
    expect(await versions.read(['catalog'], workspaceId)).toEqual([1]);
    await create(second!, 'service', { name: 's', owner_team_id: team.id });
    expect(await versions.read(['catalog'], workspaceId)).toEqual([2]);
    await redis.del(`version:catalog:${workspaceId}`);
    await eventually(() => events.length === 2, { what: 'both events' });
    expect(events.sort((a, b) => a.version - b.version)).toEqual([
      { type: 'team.changed', version: 1 },
      { type: 'service.changed', version: 2 },
    ]);

    expect((await second!.post(`/api/v1/teams/${team.id}/members`, { user_id: workspaceId })).status).toBe(201);
    const event = {
      id: randomUUID(),
      type: 'user.changed',
      schema_version: 1,
      occurred_at: new Date().toISOString(),
      workspace: { id: workspaceId, slug, is_demo: false },
      request_id: null,
      data: {
        version: 2,
        user: { id: workspaceId, email: 'e@example.com', name: 'E', active: false, seat: 'none', role: 'member' },
      },
    };
    const [outcome] = await broker.publish([{ id: event.id, type: event.type, body: JSON.stringify(event) }]);
    expect(outcome).toBe('confirmed');
    // The principal's version has not risen, so the change can only come from the event.
    for (const client of [first!, second!]) {
      await eventually(async () => (await client.get(`/api/v1/teams/${team.id}`)).body.team.member_count === 0, {
        what: 'the change of the user',
      });
    }
  });
});
