import { type Environment, type Knex, memoryVersions, openDatabase, type Versions } from '@tocsin/runtime';
import { type ServiceUnderTest, serviceHarness } from '@tocsin/testing';
import { type Overrides, startApp } from '../src/app.ts';
import { incidentConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { type FakeOwners, startOwners } from './fakes/owners.ts';

/** The incident service with its own database and fakes of the services whose data it replicates. */
export interface TestService extends ServiceUnderTest {
  versions: Versions;
  owners: FakeOwners;
}

export async function startService(
  overrides: Partial<Overrides> = {},
  settings: Environment = {},
): Promise<TestService> {
  const harness = await serviceHarness('incident', schema);
  const versions = memoryVersions();
  const owners = await startOwners(versions);
  const config = incidentConfig({
    ...harness.settings,
    INCIDENT_DATABASE_URL: harness.databaseUrl,
    GATEWAY_INTERNAL_URL: owners.url,
    CATALOG_URL: owners.url,
    CUSTOM_FIELD_URL: owners.url,
    ...settings,
  });
  const app = await startApp(config, { ...harness.overrides, versions, ...overrides });
  return { ...harness.serviceUnderTest(app, owners), versions, owners };
}

/** The service's database, for setup that the API does not offer. */
export const openOwnDatabase = (service: TestService): Knex =>
  openDatabase({ url: service.database.url(schema.name), schema: schema.name, application: 'test', poolSize: 2 });
