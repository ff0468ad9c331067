import { type Envelope, QUEUES } from '@tocsin/contracts';
import { MemoryBroker } from '@tocsin/messaging';
import { type App, createLogger, memoryVersions, type Versions } from '@tocsin/runtime';
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
import { customFieldConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';

/** The custom-field service on a database of its own. */
export interface TestService {
  app: App;
  database: TestDatabase;
  versions: Versions;
  /** What it has published, in the order of arrival. */
  events: Envelope<{ version: number; field: Record<string, unknown> }>[];
  /** Speaks as a user of a workspace, as if through the gateway. */
  as(user?: TestUser): Client;
  stop(): Promise<void>;
}

export async function startService(parts: Partial<Parts> = {}): Promise<TestService> {
  const database = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
  const broker = new MemoryBroker();
  const events: TestService['events'] = [];
  broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
    events.push(JSON.parse(body.toString()));
    return 'ack';
  });
  const versions = parts.versions ?? memoryVersions();
  const config = customFieldConfig({
    NODE_ENV: 'test',
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    CUSTOM_FIELD_DATABASE_URL: database.url(schema.name),
  });
  const app = await startApp(config, {
    log: createLogger({ app: 'custom-field', level: process.env['TEST_LOG'] ?? 'silent' }),
    broker,
    checkReplies: true,
    ...parts,
    versions,
  });
  return {
    app,
    database,
    versions,
    events,
    as: (user) => httpClient(app.url, asUser(user)),
    stop: async () => {
      await app.stop();
      await database.drop();
    },
  };
}

let workspaces = 1_000;
/** A user of a workspace that no other test knows. */
export const freshUser = (): TestUser => ({ workspace: { id: (workspaces += 1) } });

export const FIELDS = '/api/v1/custom-fields';
export const revision = (number: number) => ({ 'If-Service-Resource-Version': String(number) });
