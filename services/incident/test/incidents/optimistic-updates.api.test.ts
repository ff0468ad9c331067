import { expect, test } from '@jest/globals';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
const { knex: database } = service;

/** An incident that this process has updated last, at revision 2. */
async function updated(workspaceId: number) {
  const client = service.as({ workspace: { id: workspaceId } });
  const { incident } = (await client.post('/api/v1/incidents', { title: 'Checkout is down' })).body;
  const path = `/api/v1/incidents/${incident.id}`;
  const patch = async (changes: object, revision: number) =>
    client.patch(path, changes, { 'If-Service-Resource-Version': String(revision) });
  expect((await patch({ title: 'Checkout is slow' }, 1)).body.incident.revision).toBe(2);
  return { id: incident.id as number, path, client, patch };
}

const written = async (id: number) => {
  const [{ entries }] = await database('changelog')
    .where({ incident_id: id })
    .select(database.raw('count(*)::int as entries'));
  const rows = await database('incidents').where({ id }).select('title', 'revision');
  return { entries, ...rows[0] };
};

test('what another process has changed without a revision stays, and is in the response', async () => {
  const { id, patch } = await updated(1);
  await database('incidents').where({ id }).update({ doc_url: 'https://docs.internal/1' });
  const { status, body } = await patch({ title: 'Checkout is up' }, 2);
  const { title, revision, doc_url } = body.incident;
  expect({ status, title, revision, doc_url }).toEqual({
    ...{ status: 200, title: 'Checkout is up', revision: 3, doc_url: 'https://docs.internal/1' },
  });
});

test('nothing is written after another process has raised the revision', async () => {
  const { id, patch } = await updated(2);
  await database('incidents').where({ id }).update({ revision: 3, title: 'Checkout is gone' });
  expect((await patch({ title: 'Checkout is up' }, 2)).status).toBe(412);
  expect(await written(id)).toEqual({ entries: 1, title: 'Checkout is gone', revision: 3 });
});

test('an incident that another process has archived is refused', async () => {
  const { id, patch } = await updated(3);
  await database('incidents').where({ id }).update({ archived_at: database.fn.now(), revision: 3 });
  expect((await patch({ title: 'Checkout is up' }, 2)).body).toMatchObject({ code: 'invalid_resource_state' });
  expect((await written(id)).entries).toBe(1);
});

test('of updates of one revision at the same time, one is written', async () => {
  const { id, patch } = await updated(4);
  const results = await Promise.all([1, 2, 3, 4].map(async (number) => patch({ title: `Title ${number}` }, 2)));
  expect(results.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  const winner = results.find(({ status }) => status === 200)?.body.incident.title;
  expect(await written(id)).toEqual({ entries: 2, title: winner, revision: 3 });
});

test('another workspace does not find it', async () => {
  const { id, path } = await updated(5);
  const other = service.as({ workspace: { id: 6 } });
  expect((await other.patch(path, { title: 'Mine' }, { 'If-Service-Resource-Version': '2' })).status).toBe(404);
  expect((await written(id)).title).toBe('Checkout is slow');
});

test('values equal to the stored ones change nothing, and a dry run leaves nothing', async () => {
  const { id, path, client, patch } = await updated(7);
  expect((await patch({ title: 'Checkout is slow' }, 2)).body.incident.revision).toBe(2);
  const headers = { 'If-Service-Resource-Version': '2' };
  const validated = await client.patch(`${path}?validate_only=true`, { title: 'Checkout is up' }, headers);
  expect(validated.status).toBe(200);
  expect(await written(id)).toEqual({ entries: 1, title: 'Checkout is slow', revision: 2 });
});
