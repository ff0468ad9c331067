import type { Knex } from '@tocsin/postgres';
import { type App, type Environment, memoryVersions, type Versions } from '@tocsin/runtime';
import { type ServiceUnderTest, serviceHarness } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { type Overrides, startApp } from '../src/app.ts';
import { incidentConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { type FakeOwners, startOwners } from './fakes/owners.ts';

/** The incident service with its own database and fakes of the services whose data it replicates. */
export interface TestService extends ServiceUnderTest {
  versions: Versions;
  owners: FakeOwners;
  /** What it was started with. */
  settings: Environment;
  /** Starts another instance of the service on the same database; the caller stops it. */
  startProcess(): Promise<App>;
}

export async function startService(
  overrides: Partial<Overrides> = {},
  settings: Environment = {},
): Promise<TestService> {
  const harness = await serviceHarness('incident', schema);
  const versions = memoryVersions();
  const owners = await startOwners(versions);
  const environment = {
    ...harness.settings,
    INCIDENT_DATABASE_URL: harness.databaseUrl,
    GATEWAY_INTERNAL_URL: owners.urls.users,
    CATALOG_URL: owners.urls.catalog,
    CUSTOM_FIELD_URL: owners.urls.customFields,
    ...settings,
  };
  const config = incidentConfig(environment);
  const startProcess = async () => startApp(config, { ...harness.overrides, versions, ...overrides });
  const service = harness.serviceUnderTest(await startProcess(), owners);
  return { ...service, versions, owners, settings: environment, startProcess };
}

/** The service of a test file: it starts with the file and stops after its tests. */
export const serviceForFile = async (...options: Parameters<typeof startService>): Promise<TestService> =>
  stopAfterAll(await startService(...options));

/** How many statements wait for a lock of the table. */
export async function countWaiting(database: Knex, table: string): Promise<number> {
  const { rows } = await database.raw<{ rows: [{ count: number }] }>(
    'select count(*)::integer as count from pg_locks where not granted and relation = ?::regclass',
    [table],
  );
  return rows[0].count;
}
