import { QUEUES } from '@tocsin/schemas';
import { MemoryBroker } from '@tocsin/messaging';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { type App, createLogger, type Logger } from '@tocsin/runtime';
import { type Client, httpClient } from './client.ts';
import { createTestDatabase, type TestDatabase } from './databases.ts';
import { asUser, TEST_SECRET_KEYS, type TestUser } from './principals.ts';

/** A running service with its own database. */
export interface ServiceUnderTest {
  app: App;
  database: TestDatabase;
  /** The service's tables, for what the API does not offer. */
  knex: Knex;
  broker: MemoryBroker;
  /** A client that sends requests as a user of a workspace, like the gateway. */
  as(user?: TestUser): Client;
  stop(): Promise<void>;
}

/** On a busy machine, another service may respond later than a request waits in production. */
export const BUSY_MACHINE = { REPLICA_WAIT_MS: '5000' };

/** The environment in which a service is started in its tests. */
export interface ServiceHarness {
  database: TestDatabase;
  /** The URL for the role that owns the service's schema. */
  databaseUrl: string;
  broker: MemoryBroker;
  /** Common settings; the name of the database's setting depends on the service. */
  settings: { NODE_ENV: 'test'; TOCSIN_SECRET_KEYS: string; REPLICA_WAIT_MS: string };
  /** For `startApp`. Set `TEST_LOG` to a level to see the log. */
  overrides: { log: Logger; broker: MemoryBroker; checkReplies: true; firstRunWithin: number };
  /** @param fakes what the tests run for the app; stopped after it, in order, before the database is dropped */
  serviceUnderTest(app: App, ...fakes: { stop(): Promise<unknown> }[]): ServiceUnderTest;
}

export async function serviceHarness(
  name: string,
  schema: { readonly name: string; readonly migrations: string },
): Promise<ServiceHarness> {
  const database = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
  const databaseUrl = database.url(schema.name);
  const broker = new MemoryBroker();
  // The event feed takes nearly all events; without a consumer no publication would ever be confirmed.
  if (name !== 'webhook') broker.subscribe(QUEUES.webhookFeed, async () => 'ack');
  return {
    database,
    databaseUrl,
    broker,
    settings: { NODE_ENV: 'test', TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS, ...BUSY_MACHINE },
    overrides: {
      log: createLogger({ app: name, level: process.env.TEST_LOG ?? 'silent' }),
      broker,
      checkReplies: true,
      // Tests delete expired data explicitly.
      firstRunWithin: Number.MAX_SAFE_INTEGER,
    },
    serviceUnderTest: (app, ...fakes) => {
      const knex = openDatabase({ url: databaseUrl, schema: schema.name, application: 'test', poolSize: 4 });
      return {
        app,
        database,
        knex,
        broker,
        as: (user) => httpClient(app.url, asUser(name, user)),
        stop: async () => {
          await app.stop();
          for (const fake of fakes) await fake.stop();
          await knex.destroy();
          await database.drop();
        },
      };
    },
  };
}
