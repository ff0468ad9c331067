import { expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { at, create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

const taken = (id: number) =>
  refusal(409, 'invalid_resource_state', { field: 'external_id', details: { existing_id: id } });

test('duplicates of an earlier release stay, and are refused when they are written', async () => {
  const client = service.as(newWorkspace());
  const [one, two] = [await create(client, 'service', { name: 'a' }), await create(client, 'service', { name: 'b' })];
  await service.knex('services').whereIn('id', [one.id, two.id]).update({ external_id: 'same' });
  const path = `/api/v1/services/${two.id}`;
  expect((await client.get(path)).body.service.external_id).toBe('same');
  expect((await client.get('/api/v1/services?external_id=same')).body.services).toHaveLength(2);
  expect((await client.patch(path, { name: 'renamed' }, at(1))).status).toBe(200);
  expect(await client.patch(path, { external_id: 'same' }, at(2))).toMatchObject(taken(one.id));
  expect(await client.patch(path, { external_id: 'same', name: 'c' }, at(2))).toMatchObject(taken(one.id));
  expect((await client.patch(path, { external_id: 'other' }, at(2))).status).toBe(200);
  expect((await client.patch(`/api/v1/services/${one.id}`, { external_id: 'same' }, at(1))).status).toBe(200);
});
