import { randomInt } from 'node:crypto';
import { type Envelope, envelope, QUEUES, type ServiceSnapshot, type TeamSnapshot } from '@tocsin/contracts';
import { type Knex, memoryVersions, openDatabase, type Versions } from '@tocsin/runtime';
import { type Client, type ServiceUnderTest, testGround } from '@tocsin/testing';
import { type Parts, startApp } from '../src/app.ts';
import { catalogConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { type FakeNeighbours, startNeighbours } from './fakes/neighbours.ts';

/** The catalog service on a database of its own, with stand-ins for the gateway and the incident service. */
export interface TestService extends ServiceUnderTest {
  /** The service's tables. */
  knex: Knex;
  /** What the incident service was told, in the order of arrival. */
  told: Envelope<{ version: number; service?: ServiceSnapshot; team?: TeamSnapshot }>[];
  versions: Versions;
  neighbours: FakeNeighbours;
}

/** @param reach how the service itself gets to its database */
export async function startService(
  parts: Partial<Parts> = {},
  reach: (url: string) => string | Promise<string> = (url) => url,
): Promise<TestService> {
  const ground = await testGround('catalog', schema);
  const told: TestService['told'] = [];
  ground.broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
    told.push(envelope.parse(JSON.parse(body.toString())) as (typeof told)[number]);
    return 'ack';
  });
  const versions = memoryVersions();
  const neighbours = await startNeighbours();
  const config = catalogConfig({
    ...ground.settings,
    CATALOG_DATABASE_URL: await reach(ground.databaseUrl),
    GATEWAY_INTERNAL_URL: neighbours.url,
    INCIDENT_URL: neighbours.url,
  });
  const app = await startApp(config, { ...ground.parts, versions, ...parts });
  const knex = openDatabase({ url: ground.databaseUrl, schema: schema.name, application: 'test', poolSize: 4 });
  return {
    ...ground.serving(app, { stop: async () => knex.destroy() }, neighbours),
    knex,
    told,
    versions,
    neighbours,
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
