import { MemoryBroker } from '@tocsin/messaging';
import { type App, createLogger, type Logger } from '@tocsin/runtime';
import { type Client, httpClient } from './client.ts';
import { createTestDatabase, type TestDatabase } from './databases.ts';
import { asUser, TEST_SECRET_KEYS, type TestUser } from './principals.ts';

/** A service that runs alone, on a database of its own. */
export interface ServiceUnderTest {
  app: App;
  database: TestDatabase;
  broker: MemoryBroker;
  /** Speaks as a user of a workspace, as if through the gateway. */
  as(user?: TestUser): Client;
  stop(): Promise<void>;
}

/** What a service is started on in its tests. */
export interface TestGround {
  database: TestDatabase;
  /** As the role that owns the service's schema. */
  databaseUrl: string;
  broker: MemoryBroker;
  /** For the service's settings; the URL of its database has a name of its own. */
  settings: { NODE_ENV: 'test'; TOCSIN_SECRET_KEYS: string };
  /** For `startApp`. With `TEST_LOG` set to a level, its log lines are shown. */
  parts: { log: Logger; broker: MemoryBroker; checkReplies: true };
  /** @param standIns what the tests run beside the app; they stop after it, in their order, and then the database goes */
  serving(app: App, ...standIns: { stop(): Promise<unknown> }[]): ServiceUnderTest;
}

export async function testGround(
  name: string,
  schema: { readonly name: string; readonly migrations: string },
): Promise<TestGround> {
  const database = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
  const broker = new MemoryBroker();
  return {
    database,
    databaseUrl: database.url(schema.name),
    broker,
    settings: { NODE_ENV: 'test', TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS },
    parts: {
      log: createLogger({ app: name, level: process.env.TEST_LOG ?? 'silent' }),
      broker,
      checkReplies: true,
    },
    serving: (app, ...standIns) => ({
      app,
      database,
      broker,
      as: (user) => httpClient(app.url, asUser(user)),
      stop: async () => {
        await app.stop();
        for (const standIn of standIns) await standIn.stop();
        await database.drop();
      },
    }),
  };
}
