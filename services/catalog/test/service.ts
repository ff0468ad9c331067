import { randomInt } from 'node:crypto';
import { type Envelope, envelope, QUEUES, type ServiceSnapshot, type TeamSnapshot } from '@tocsin/contracts';
import { MemoryBroker } from '@tocsin/messaging';
import { type App, createLogger, type Knex, memoryVersions, openDatabase, type Versions } from '@tocsin/runtime';
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
import { catalogConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { type FakeNeighbours, startNeighbours } from './fakes/neighbours.ts';

/** The catalog service on a database of its own, with stand-ins for the gateway and the incident service. */
export interface TestService {
  app: App;
  database: TestDatabase;
  /** The service's tables. */
  knex: Knex;
  broker: MemoryBroker;
  /** What the incident service was told, in the order of arrival. */
  told: Envelope<{ version: number; service?: ServiceSnapshot; team?: TeamSnapshot }>[];
  versions: Versions;
  neighbours: FakeNeighbours;
  /** Speaks as a user of a workspace, as if through the gateway. */
  as(user?: TestUser): Client;
  stop(): Promise<void>;
}

/** @param reach how the service itself gets to its database */
export async function startService(
  parts: Partial<Parts> = {},
  reach: (url: string) => string | Promise<string> = (url) => url,
): Promise<TestService> {
  const database = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
  const broker = new MemoryBroker();
  const told: TestService['told'] = [];
  broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
    told.push(envelope.parse(JSON.parse(body.toString())) as (typeof told)[number]);
    return 'ack';
  });
  const versions = memoryVersions();
  const neighbours = await startNeighbours();
  const url = database.url(schema.name);
  const config = catalogConfig({
    NODE_ENV: 'test',
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    CATALOG_DATABASE_URL: await reach(url),
    GATEWAY_INTERNAL_URL: neighbours.url,
    INCIDENT_URL: neighbours.url,
  });
  const app = await startApp(config, {
    log: createLogger({ app: 'catalog', level: process.env.TEST_LOG ?? 'silent' }),
    broker,
    versions,
    checkReplies: true,
    ...parts,
  });
  const knex = openDatabase({ url, schema: schema.name, application: 'test', poolSize: 4 });
  return {
    app,
    database,
    knex,
    broker,
    told,
    versions,
    neighbours,
    as: (user) => httpClient(app.url, asUser(user)),
    stop: async () => {
      await app.stop();
      await knex.destroy();
      await neighbours.stop();
      await database.drop();
    },
  };
}

/** A workspace that no other test has, at a version of the gateway's data. */
export const newWorkspace = (version = 0) => {
  const id = randomInt(1_000, 2 ** 40);
  return { workspace: { id, slug: `w${id}`, version } };
};

/** The header of a PATCH. */
export const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });

/** The names of listed things. */
export const namesOf = (items: readonly { name: string }[]) => items.map(({ name }) => name);

/** Creates a team or service and answers it. */
export async function create(client: Client, kind: 'team' | 'service', body: Record<string, unknown>) {
  const answer = await client.post(`/api/v1/${kind}s`, body);
  if (answer.status !== 201) throw new Error(`${kind} not created: ${answer.text}`);
  return answer.body[kind];
}
