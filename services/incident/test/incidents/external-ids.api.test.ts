import { expect, test } from '@jest/globals';
import { type Answer } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';

const INCIDENTS = '/api/v1/incidents';

const service = await serviceForFile();

let workspaces = 8_000;
const newWorkspace = () => service.as({ workspace: { id: (workspaces += 1) } });

const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const isTaken = (existing_id: number) =>
  expect.objectContaining({
    status: 409,
    body: expect.objectContaining({
      code: 'invalid_resource_state',
      field: 'external_id',
      details: { existing_id },
    }),
  });

test('a taken external ID is refused with the incident that has it, also an archived one', async () => {
  const client = newWorkspace();
  const { incident } = (await client.post(INCIDENTS, { title: 'x', external_id: 'alert-1' })).body;
  await client.post(`${INCIDENTS}/${incident.id}/archive`);
  const key = { 'Idempotency-Key': 'k' };
  const refused = await client.post(INCIDENTS, { title: 'y', external_id: 'alert-1' }, key);
  expect(refused).toEqual(isTaken(incident.id));
  // A conflict of state is an outcome of the key, as any other.
  const again = await client.post(INCIDENTS, { title: 'y', external_id: 'alert-1' }, key);
  expect(again).toEqual(isTaken(incident.id));
  expect(again.headers.get('Idempotency-Replayed')).toBe('true');
  const imported = { doc_url: 'https://doc.invalid/', import_source_timeline_event: true };
  expect(await client.post(INCIDENTS, { title: 'y', external_id: 'alert-1', ...imported })).toEqual(
    isTaken(incident.id),
  );

  const other = (await client.post(INCIDENTS, { title: 'y' })).body.incident;
  // A refused create uses no number.
  expect(other.human_id).toBe('INC-2');
  const path = `${INCIDENTS}/${other.id}`;
  expect(await client.patch(path, { external_id: 'alert-1', title: 'z' }, at(1))).toEqual(isTaken(incident.id));
  expect((await client.get(path)).body.incident).toEqual(expect.objectContaining({ title: 'y', revision: 1 }));
  // The own one is not taken, and another workspace has its own.
  await client.post(`${INCIDENTS}/${incident.id}/restore`);
  expect((await client.patch(`${INCIDENTS}/${incident.id}`, { external_id: 'alert-1' }, at(3))).status).toBe(200);
  expect((await newWorkspace().post(INCIDENTS, { title: 'x', external_id: 'alert-1' })).status).toBe(201);
});

test('an import of a timeline can set it', async () => {
  const client = newWorkspace();
  const body = { external_id: 'alert-1', doc_url: 'https://doc.invalid/', import_source_timeline_event: true };
  const created = await client.post(INCIDENTS, { title: 'x', ...body }, { 'Idempotency-Key': 'k' });
  expect(created).toMatchObject({ status: 201, body: { incident: { external_id: 'alert-1' } } });
  const other = await client.post(INCIDENTS, { title: 'y', external_id: 'alert-1' });
  expect(other).toEqual(isTaken(created.body.incident.id));
});

test('of concurrent creates and changes with the same external ID, one succeeds', async () => {
  const client = newWorkspace();
  const existing: number[] = [];
  for (let count = 0; count < 10; count += 1) {
    existing.push((await client.post(INCIDENTS, { title: 'x' })).body.incident.id);
  }
  const body = { external_id: 'alert-1' };
  const answers: Answer[] = await Promise.all([
    ...existing.map(async (id) => client.patch(`${INCIDENTS}/${id}`, body, at(1))),
    ...existing.map(async (id) => client.post(INCIDENTS, { title: 'y', ...body }, { 'Idempotency-Key': `k${id}` })),
    ...existing.map(async () => client.post(INCIDENTS, { title: 'y', ...body })),
  ]);
  const succeeded = answers.filter(({ status }) => status < 300);
  expect(succeeded).toHaveLength(1);
  const { id } = succeeded[0]?.body.incident;
  for (const answer of answers) if (answer !== succeeded[0]) expect(answer).toEqual(isTaken(id));
  const { incidents } = (await client.get(`${INCIDENTS}?external_id=alert-1`)).body;
  expect(incidents.map((incident: { id: number }) => incident.id)).toEqual([id]);
});
