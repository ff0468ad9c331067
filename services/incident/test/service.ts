import { MemoryBroker } from '@tocsin/messaging';
import { type App, createLogger, type Environment, memoryVersions, type Versions } from '@tocsin/runtime';
import {
  asUser,
  type Client,
  createTestDatabase,
  httpClient,
  TEST_SECRET_KEYS,
  type TestDatabase,
  type TestUser,
} from '@tocsin/testing';
import { type Parts, startApp } from '../src/app.ts';
import { incidentConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { type FakeOwners, startOwners } from './fakes/owners.ts';

/** The incident service on a database of its own, with stand-ins for the services whose data it copies. */
export interface TestService {
  app: App;
  database: TestDatabase;
  broker: MemoryBroker;
  versions: Versions;
  owners: FakeOwners;
  /** Speaks as a user of a workspace, as if through the gateway. */
  as(user?: TestUser): Client;
  stop(): Promise<void>;
}

export async function startService(parts: Partial<Parts> = {}, settings: Environment = {}): Promise<TestService> {
  const database = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
  const broker = new MemoryBroker();
  const versions = memoryVersions();
  const owners = await startOwners(versions);
  const config = incidentConfig({
    NODE_ENV: 'test',
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    INCIDENT_DATABASE_URL: database.url(schema.name),
    GATEWAY_INTERNAL_URL: owners.url,
    CATALOG_URL: owners.url,
    CUSTOM_FIELD_URL: owners.url,
    ...settings,
  });
  const app = await startApp(config, {
    log: createLogger({ app: 'incident', level: process.env.TEST_LOG ?? 'silent' }),
    broker,
    versions,
    checkReplies: true,
    ...parts,
  });
  return {
    app,
    database,
    broker,
    versions,
    owners,
    as: (user) => httpClient(app.url, asUser(user)),
    stop: async () => {
      await app.stop();
      await owners.stop();
      await database.drop();
    },
  };
}
