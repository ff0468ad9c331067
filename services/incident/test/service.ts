import { type Environment, type Knex, memoryVersions, openDatabase, type Versions } from '@tocsin/runtime';
import { type ServiceUnderTest, testGround } from '@tocsin/testing';
import { type Parts, startApp } from '../src/app.ts';
import { incidentConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';
import { type FakeOwners, startOwners } from './fakes/owners.ts';

/** The incident service on a database of its own, with stand-ins for the services whose data it copies. */
export interface TestService extends ServiceUnderTest {
  versions: Versions;
  owners: FakeOwners;
}

export async function startService(parts: Partial<Parts> = {}, settings: Environment = {}): Promise<TestService> {
  const ground = await testGround('incident', schema);
  const versions = memoryVersions();
  const owners = await startOwners(versions);
  const config = incidentConfig({
    ...ground.settings,
    INCIDENT_DATABASE_URL: ground.databaseUrl,
    GATEWAY_INTERNAL_URL: owners.url,
    CATALOG_URL: owners.url,
    CUSTOM_FIELD_URL: owners.url,
    ...settings,
  });
  const app = await startApp(config, { ...ground.parts, versions, ...parts });
  return { ...ground.serving(app, owners), versions, owners };
}

/** The service's own database, for what no client can do. */
export const openOwnDatabase = (service: TestService): Knex =>
  openDatabase({ url: service.database.url(schema.name), schema: schema.name, application: 'test', poolSize: 2 });
