import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listen } from '@tocsin/http';
import { MemoryBroker } from '@tocsin/messaging';
import { openDatabase } from '@tocsin/postgres';
import { type App, createLogger, memoryVersions } from '@tocsin/runtime';
import {
  asUser,
  BUSY_MACHINE,
  type Client,
  createTestDatabase,
  eventually,
  httpClient,
  TEST_SECRET_KEYS,
  type TestDatabase,
} from '@tocsin/testing';
import { startApp as startCustomFields } from '../../../services/custom-field/src/app.ts';
import { customFieldConfig } from '../../../services/custom-field/src/config.ts';
import { schema as customFieldSchema } from '../../../services/custom-field/src/schema.ts';
import { startApp as startIncidents } from '../../../services/incident/src/app.ts';
import { incidentConfig } from '../../../services/incident/src/config.ts';
import { schema as incidentSchema } from '../../../services/incident/src/schema.ts';
import { withDatabase } from '../../installation/databases.ts';

const FIELDS = '/api/v1/custom-fields';
const INCIDENTS = '/api/v1/incidents';

/** The two services that handle custom fields. */
interface Installation {
  customFields: App;
  database: TestDatabase;
  /** Clients of both services, as a user of a workspace. */
  as(workspaceId: number): { fields: Client; incidents: Client };
  stop(): Promise<void>;
}

async function start(): Promise<Installation> {
  const database: TestDatabase = await createTestDatabase(
    { schema: customFieldSchema.name, migrations: customFieldSchema.migrations },
    { schema: incidentSchema.name, migrations: incidentSchema.migrations },
  );
  const overrides = {
    log: createLogger({ app: 'test', level: process.env['TEST_LOG'] ?? 'silent' }),
    broker: new MemoryBroker(),
    versions: memoryVersions(),
    checkReplies: true,
  };
  // The other owners are unavailable.
  const unavailable = await listen((_request, response) => response.writeHead(503).end(), {
    host: '127.0.0.1',
    port: 0,
  });
  const customFields = await startCustomFields(
    customFieldConfig({
      TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
      CUSTOM_FIELD_DATABASE_URL: database.url(customFieldSchema.name),
    }),
    overrides,
  );
  const incidents = await startIncidents(
    incidentConfig({
      TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
      ...BUSY_MACHINE,
      INCIDENT_DATABASE_URL: database.url(incidentSchema.name),
      GATEWAY_INTERNAL_URL: unavailable.url,
      CATALOG_URL: unavailable.url,
      CUSTOM_FIELD_URL: customFields.url,
    }),
    overrides,
  );
  return {
    customFields,
    database,
    as: (id) => {
      const as = (service: string) => asUser(service, { workspace: { id } });
      return {
        fields: httpClient(customFields.url, as('custom-field')),
        incidents: httpClient(incidents.url, as('incident')),
      };
    },
    stop: async () => {
      await incidents.stop();
      await customFields.stop();
      await unavailable.close();
      await database.drop();
    },
  };
}

const required = (name: string) => ({
  name,
  field_type: 'string',
  show_on_creation: true,
  required_on_creation: true,
});
const refusal = { status: 400, body: { code: 'invalid_request', field: 'custom_field_values' } };

describe('a required field', () => {
  let installation: Installation;
  beforeAll(async () => void (installation = await start()));
  afterAll(async () => installation.stop());

  test('is required of the next incident, fifty times in a row', async () => {
    const { fields, incidents } = installation.as(1);
    const values: { field_id: number; value: string }[] = [];
    for (let time = 0; time < 50; time += 1) {
      const { body } = await fields.post(FIELDS, required(`Field ${time}`));
      // With all fields except the newest one. What cannot be read on a busy machine is tried again, and never accepted.
      const answer = await eventually(async () => {
        const sent = await incidents.post(INCIDENTS, { title: 'x', custom_field_values: values });
        return sent.status === 503 ? undefined : sent;
      });
      expect(answer).toMatchObject(refusal);
      values.push({ field_id: body.field.id, value: `value ${time}` });
    }
    const { status, body } = await incidents.post(INCIDENTS, { title: 'x', custom_field_values: values });
    expect(status).toBe(201);
    expect(Object.keys(body.incident.custom_fields)).toHaveLength(50);
  });

  test('is validated with its newest definition, fifty times in a row', async () => {
    const { fields, incidents } = installation.as(2);
    const { body } = await fields.post(FIELDS, { name: 'Zone', field_type: 'select', config: { options: ['zone 0'] } });
    const path = `${FIELDS}/${body.field.id}`;
    const declare = async (value: string) =>
      incidents.post(INCIDENTS, { title: 'x', custom_field_values: [{ field_id: body.field.id, value }] });
    for (let time = 1; time <= 50; time += 1) {
      const change = { config: { options: [`zone ${time}`] } };
      await fields.patch(path, change, { 'If-Service-Resource-Version': String(time) });
      const [past, present] = await Promise.all([declare(`zone ${time - 1}`), declare(`zone ${time}`)]);
      expect([past.status, present.status]).toEqual([400, 201]);
    }
    await fields.delete(path);
    expect((await declare('zone 50')).body.field).toBe('custom_field_values.0.field_id');
    await fields.post(`${path}/restore`);
    expect((await declare('zone 50')).status).toBe(201);
  });
});

test('definitions of many mebibytes reach the incident service, and keep no other workspace from being served', async () => {
  const installation = await start();
  const [large, other] = [installation.as(1), installation.as(2)];
  for (let number = 0; number < 40; number += 1) {
    await large.fields.post(FIELDS, { name: `f${number}`, field_type: 'string' });
  }
  // Larger than the API allows, as earlier releases stored them.
  const url = installation.database.url(customFieldSchema.name);
  const database = openDatabase({ url, schema: customFieldSchema.name, application: 'test', poolSize: 1 });
  await withDatabase(database, async () => database('definitions').update({ description: 'x'.repeat(900_000) }));
  await large.fields.post(FIELDS, required('Last'));
  await other.fields.post(FIELDS, required('Only'));

  const isRefused = async () => (await other.incidents.post(INCIDENTS, { title: 'x' })).status === 400;
  // Starts the pull of the large definitions.
  await large.incidents.post(INCIDENTS, { title: 'x' });
  await eventually(isRefused, { what: 'the definition of the other workspace' });
  const isEnforced = async () => {
    const { status } = await large.incidents.post(INCIDENTS, { title: 'x' });
    // A replica that lacks pages allows what it does not know.
    expect([201, 400]).toContain(status);
    expect(await other.incidents.post(INCIDENTS, { title: 'x' })).toMatchObject(refusal);
    return status === 400;
  };
  await eventually(isEnforced, { what: 'the last definition' });
  await installation.stop();
});

describe('with the custom-field service stopped', () => {
  let installation: Installation;
  beforeAll(async () => void (installation = await start()));
  afterAll(async () => installation.stop());

  test('fields are required, validated and given defaults from the replica', async () => {
    const { fields, incidents } = installation.as(1);
    const { body: zone } = await fields.post(FIELDS, required('Zone'));
    await fields.post(FIELDS, { name: 'Cost', field_type: 'number', default_value: 5 });
    expect(await incidents.post(INCIDENTS, { title: 'x' })).toMatchObject(refusal);
    // The incident service has received no request since the creation of this field.
    const { body: late } = await fields.post(FIELDS, required('Late'));
    await installation.customFields.stop();

    const values = (value: unknown) => ({ field_id: zone.field.id, value });
    const declare = async (...custom_field_values: unknown[]) =>
      incidents.post(INCIDENTS, { title: 'x', custom_field_values });
    for (let time = 0; time < 50; time += 1) expect(await declare(values('eu'))).toMatchObject(refusal);
    expect(await declare(values(5))).toMatchObject({ status: 400, body: { field: 'custom_field_values.0.value' } });
    const { status, body } = await declare(values('eu'), { field_id: late.field.id, value: 'x' });
    expect(status).toBe(201);
    expect(body.incident.custom_fields).toEqual({ zone: 'eu', late: 'x', cost: 5 });

    const path = `${INCIDENTS}/${body.incident.id}/custom-fields`;
    const changed = await incidents.patch(path, { values: [{ slug: 'cost', value: 6 }] });
    expect(changed.status).toBe(200);
    expect((await incidents.get(path)).body).toEqual(changed.body);
  });
});
