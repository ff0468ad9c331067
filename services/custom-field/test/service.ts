import { type Envelope, QUEUES } from '@tocsin/contracts';
import { memoryVersions, type Versions } from '@tocsin/runtime';
import { type ServiceUnderTest, testGround, type TestUser } from '@tocsin/testing';
import { type Parts, startApp } from '../src/app.ts';
import { customFieldConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';

/** The custom-field service on a database of its own. */
export interface TestService extends ServiceUnderTest {
  versions: Versions;
  /** What it has published, in the order of arrival. */
  events: Envelope<{ version: number; field: Record<string, unknown> }>[];
}

export async function startService(parts: Partial<Parts> = {}): Promise<TestService> {
  const ground = await testGround('custom-field', schema);
  const events: TestService['events'] = [];
  ground.broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
    events.push(JSON.parse(body.toString()));
    return 'ack';
  });
  const versions = parts.versions ?? memoryVersions();
  const config = customFieldConfig({ ...ground.settings, CUSTOM_FIELD_DATABASE_URL: ground.databaseUrl });
  const app = await startApp(config, { ...ground.parts, ...parts, versions });
  return { ...ground.serving(app), versions, events };
}

let workspaces = 1_000;
/** A user of a workspace that no other test knows. */
export const freshUser = (): TestUser => ({ workspace: { id: (workspaces += 1) } });

export const FIELDS = '/api/v1/custom-fields';
export const revision = (number: number) => ({ 'If-Service-Resource-Version': String(number) });
