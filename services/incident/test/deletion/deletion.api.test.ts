import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });
const client = service.as();

test('an incident is deleted by its owner with all that belongs to it, and its number never comes again', async () => {
  const key = { 'Idempotency-Key': 'once' };
  const { incident: other } = (await client.post('/api/v1/incidents', { title: 'Other' })).body;
  const created = await client.post('/api/v1/incidents', { title: 'Secret', service: 'checkout' }, key);
  const { incident } = created.body;
  const path = `/api/v1/incidents/${incident.id}`;
  await client.post(`${path}/timeline`, { body: 'Secret' }, key);
  await client.post(`${path}/follow-ups`, { title: 'Secret' });
  const sections = [{ key: 'a', title: 'Secret', body: 'Secret' }];
  await client.post(`${path}/postmortem`, { sections }, key);
  await client.patch(`${path}/postmortem`, { sections: [] }, { 'If-Service-Resource-Version': '1' });
  const relation = { type: 'duplicate_of', incident_id: incident.id };
  expect((await client.post(`/api/v1/incidents/${other.id}/relations`, relation)).status).toBe(201);
  await client.post(`${path}/archive`);

  const body = { reason: 'A mistake', confirmation: incident.human_id };
  const admin = service.as({ permissions: ['manage_settings', 'manage_teams'] });
  expect((await admin.post(`${path}/delete`, body)).body.code).toBe('missing_role_permission');
  const wrong = await client.post(`${path}/delete`, { ...body, confirmation: other.human_id });
  expect(wrong.body).toMatchObject({ code: 'invalid_request', field: 'confirmation' });
  expect((await client.post(`${path}/delete?validate_only=true`, body)).status).toBe(204);
  expect((await client.get(path)).status).toBe(200);
  expect((await client.post(`${path}/delete`, body)).status).toBe(204);
  expect((await client.post(`${path}/delete`, body)).status).toBe(404);
  expect((await client.get(path)).status).toBe(404);
  expect((await client.post('/api/v1/incidents', { title: 'Secret', service: 'checkout' }, key)).status).toBe(404);

  const { rows: tables } = await service.knex.raw<{ rows: { name: string }[] }>(
    `select distinct table_name as name from information_schema.columns
     where table_schema = 'incident' and column_name = 'incident_id'`,
  );
  expect(tables.length).toBeGreaterThan(10);
  for (const { name } of tables)
    expect([name, await service.knex(name).where({ incident_id: incident.id })]).toEqual([name, []]);
  expect(await service.knex('idempotency_keys').where('body', 'like', '%Secret%')).toEqual([]);

  const related = (await client.get(`/api/v1/incidents/${other.id}`)).body.incident;
  expect(related).toMatchObject({ revision: 3 });
  expect((await client.get(`/api/v1/incidents/${other.id}/relations`)).body.relations).toEqual([]);
  const next = (await client.post('/api/v1/incidents', { title: 'Next' })).body.incident;
  expect(next.human_id).toBe(`INC-${Number(incident.human_id.slice(4)) + 1}`);
  await eventually(() => broker.published.some(({ type }) => type === 'incident.deleted'));
  const dataOf = (type: string) => broker.published.filter((event) => event.type === type).map(({ data }) => data);
  expect(dataOf('incident.deleted')).toEqual([{ incident: { id: incident.id, reference: incident.human_id } }]);
  expect(dataOf('audit.recorded')).toMatchObject([
    { entry: { action: 'incident.deleted', before: { reference: incident.human_id }, after: { reason: 'A mistake' } } },
  ]);
});
