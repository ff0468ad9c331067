import { randomInt } from 'node:crypto';
import { expect } from '@jest/globals';
import { type Envelope, envelope, QUEUES, type ServiceSnapshot, type TeamSnapshot } from '@tocsin/schemas';
import { type Environment, memoryVersions, type Versions } from '@tocsin/runtime';
import { type Client, type ServiceUnderTest, serviceHarness } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { serviceTiers } from '../src/administration.ts';
import { type Overrides, startApp } from '../src/app.ts';
import { catalogConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { type FakeInternalServices, startInternalServices } from './fakes/internal-services.ts';

/** The catalog service on its own database, with a fake of the gateway and the incident service. */
export interface TestService extends ServiceUnderTest {
  /** The events that the incident service received, in the order of arrival. */
  events: Envelope<{ version: number; service?: ServiceSnapshot; team?: TeamSnapshot }>[];
  versions: Versions;
  internalServices: FakeInternalServices;
}

export async function startService(
  overrides: Partial<Overrides> = {},
  settings: Environment = {},
): Promise<TestService> {
  const harness = await serviceHarness('catalog', schema);
  const events: TestService['events'] = [];
  harness.broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
    events.push(envelope.parse(JSON.parse(body.toString())) as (typeof events)[number]);
    return 'ack';
  });
  const versions = memoryVersions();
  const internalServices = await startInternalServices();
  const config = catalogConfig({
    ...harness.settings,
    CATALOG_DATABASE_URL: harness.databaseUrl,
    GATEWAY_INTERNAL_URL: internalServices.url,
    INCIDENT_URL: internalServices.url,
    ...settings,
  });
  const app = await startApp(config, { ...harness.overrides, versions, ...overrides });
  return { ...harness.serviceUnderTest(app, internalServices), events, versions, internalServices };
}

/** The service of a test file: it starts with the file and stops after its tests. */
export const serviceForFile = async (...options: Parameters<typeof startService>): Promise<TestService> =>
  stopAfterAll(await startService(...options));

/** A workspace that no other test uses, at a version of the gateway's data. */
export const newWorkspace = (version = 0) => {
  const id = randomInt(1_000, 2 ** 40);
  return { workspace: { id, slug: `w${id}`, version } };
};

/** The headers of a PATCH that expects a revision. */
export const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });

export const namesOf = (items: readonly { name: string }[]) => items.map(({ name }) => name);

/** Creates a team or service and returns it. */
export async function create(client: Client, kind: 'team' | 'service', body: Record<string, unknown>) {
  const response = await client.post(`/api/v1/${kind}s`, body);
  if (response.status !== 201) throw new Error(`${kind} not created: ${response.text}`);
  return response.body[kind];
}

/**
 * Prepares tiers as a change of the configuration does.
 * @returns the outcome, and a function that commits the list as the incident service does
 */
export async function prepareTiers(
  { knex, internalServices }: TestService,
  workspaceId: number,
  keys: readonly { key: string; is_default?: boolean; label?: string; description?: string }[],
) {
  const owner = serviceTiers(knex, workspaceId);
  const { version: read_version } = await owner.read();
  const version = read_version + 1;
  const tiers = keys.map((tier, order) => ({
    label: tier.key,
    is_default: false,
    description: '',
    ...tier,
    order,
  }));
  const preparation = await owner.prepare({ read_version, committed_version: read_version, version, tiers });
  return { preparation, tiers, commit: () => void internalServices.committedTiers.set(workspaceId, version) };
}

/** Changes the tiers of a workspace; the gateway then raises the workspace's version. */
export async function configureTiers(...options: Parameters<typeof prepareTiers>) {
  const { preparation, commit, tiers } = await prepareTiers(...options);
  expect(preparation).toEqual({ outcome: 'prepared' });
  commit();
  return tiers;
}
