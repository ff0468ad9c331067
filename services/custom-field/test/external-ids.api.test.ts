import { expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { serviceForFile } from './service.ts';

const service = await serviceForFile();

const PATH = '/api/v1/custom-fields';
const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
let workspaces = 7_000;
const newClient = () => {
  workspaces += 1;
  const client = service.as({ workspace: { id: workspaces, slug: `w${workspaces}` } });
  const create = async (name: string, more: object = {}) => client.post(PATH, { name, field_type: 'string', ...more });
  return { client, create };
};
const taken = (id: number) =>
  refusal(409, 'invalid_resource_state', { field: 'external_id', details: { existing_id: id } });

test('an external ID is set, found exactly, and cleared', async () => {
  const { client, create } = newClient();
  const { field } = (await create('One', { external_id: ' jira/1 ' })).body;
  expect(field.external_id).toBe('jira/1');
  await create('Two');
  const found = async (id: string) => (await client.get(`${PATH}?external_id=${encodeURIComponent(id)}`)).body.fields;
  expect([await found('jira/1'), await found('JIRA/1')]).toEqual([[field], []]);
  const cleared = await client.patch(`${PATH}/${field.id}`, { external_id: null }, at(1));
  expect(cleared.body.field).not.toHaveProperty('external_id');
  expect(await found('jira/1')).toEqual([]);
  for (const external_id of ['', ' ', 'x'.repeat(201), 1]) {
    expect(await create('Three', { external_id })).toMatchObject({ status: 400, body: { field: 'external_id' } });
  }
  expect((await create('Three', { external_id: 'x'.repeat(200) })).status).toBe(201);
});

test('an external ID belongs to one field of the workspace, archived ones included, also under a race', async () => {
  const { client, create } = newClient();
  const { field } = (await create('One', { external_id: 'x' })).body;
  await client.delete(`${PATH}/${field.id}`);
  expect(await create('Two', { external_id: 'x' })).toMatchObject(taken(field.id));
  const other = (await create('Three')).body.field;
  expect(await client.patch(`${PATH}/${other.id}`, { external_id: 'x' }, at(1))).toMatchObject(taken(field.id));
  expect((await newClient().create('Elsewhere', { external_id: 'x' })).status).toBe(201);

  const answers = await Promise.all([
    client.patch(`${PATH}/${other.id}`, { external_id: 'y' }, at(1)),
    ...[4, 5, 6].map(async (n) => create(`n${n}`, { external_id: 'y' })),
  ]);
  const [winner, ...more] = answers.filter(({ status }) => status < 300);
  expect(more).toEqual([]);
  for (const answer of answers) if (answer !== winner) expect(answer).toMatchObject(taken(winner?.body.field.id));
});
