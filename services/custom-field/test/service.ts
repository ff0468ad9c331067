import { type Envelope, QUEUES } from '@tocsin/schemas';
import { memoryVersions, type Versions } from '@tocsin/runtime';
import { type ServiceUnderTest, serviceHarness, type TestUser } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { type Overrides, startApp } from '../src/app.ts';
import { customFieldConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';

/** The custom-field service on its own database. */
export interface TestService extends ServiceUnderTest {
  versions: Versions;
  /** The events that it has published, in the order of arrival. */
  events: Envelope<{ version: number; field: Record<string, unknown> }>[];
}

export async function startService(overrides: Partial<Overrides> = {}): Promise<TestService> {
  const harness = await serviceHarness('custom-field', schema);
  const events: TestService['events'] = [];
  harness.broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
    events.push(JSON.parse(body.toString()));
    return 'ack';
  });
  const versions = overrides.versions ?? memoryVersions();
  const config = customFieldConfig({ ...harness.settings, CUSTOM_FIELD_DATABASE_URL: harness.databaseUrl });
  const app = await startApp(config, { ...harness.overrides, ...overrides, versions });
  return { ...harness.serviceUnderTest(app), versions, events };
}

/** The service of a test file: it starts with the file and stops after its tests. */
export const serviceForFile = async (...options: Parameters<typeof startService>): Promise<TestService> =>
  stopAfterAll(await startService(...options));

let workspaces = 1_000;
/** A user of a workspace that no other test uses. */
export const freshUser = (): TestUser => ({ workspace: { id: (workspaces += 1) } });

export const FIELDS = '/api/v1/custom-fields';
export const revision = (number: number) => ({ 'If-Service-Resource-Version': String(number) });
