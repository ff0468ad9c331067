import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { at, create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

const taken = (id: number) =>
  refusal(409, 'invalid_resource_state', { field: 'external_id', details: { existing_id: id } });

describe.each(['service', 'team'] as const)('the external ID of a %s', (kind) => {
  const path = `/api/v1/${kind}s`;

  test('is set by a create and by a PATCH, found exactly, and cleared', async () => {
    const client = service.as(newWorkspace());
    const one = await create(client, kind, { name: 'One', external_id: ' ext/1 ' });
    expect(one.external_id).toBe('ext/1');
    const two = await create(client, kind, { name: 'Two' });
    expect(two).not.toHaveProperty('external_id');
    const patched = await client.patch(`${path}/${two.id}`, { external_id: 'EXT/1' }, at(1));
    expect(patched.body[kind]).toMatchObject({ revision: 2, external_id: 'EXT/1' });
    const found = async (id: string, more = '') =>
      (await client.get(`${path}?external_id=${encodeURIComponent(id)}${more}`)).body[`${kind}s`].map(
        (item: { id: number }) => item.id,
      );
    expect([await found('ext/1'), await found('EXT/1'), await found('ext')]).toEqual([[one.id], [two.id], []]);
    const cleared = await client.patch(`${path}/${two.id}`, { external_id: null }, at(2));
    expect(cleared.body[kind]).not.toHaveProperty('external_id');
    expect(await found('EXT/1')).toEqual([]);
    await client.delete(`${path}/${one.id}`);
    expect([await found('ext/1'), await found('ext/1', '&include_archived=true')]).toEqual([[], [one.id]]);
    expect((await client.get(`${path}?external_id=`)).status).toBe(400);
  });

  test('is unique in the workspace and the kind, archived ones included', async () => {
    const user = newWorkspace();
    const client = service.as(user);
    const one = await create(client, kind, { name: 'One', external_id: 'x' });
    const two = await create(client, kind, { name: 'Two' });
    await client.delete(`${path}/${one.id}`);
    expect(await client.post(path, { name: 'Three', external_id: 'x' })).toMatchObject(taken(one.id));
    expect(await client.patch(`${path}/${two.id}`, { external_id: 'x' }, at(1))).toMatchObject(taken(one.id));
    expect((await client.get(`${path}/${two.id}`)).body[kind]).toMatchObject({ revision: 1 });
    await create(service.as(newWorkspace()), kind, { name: 'Elsewhere', external_id: 'x' });
    await create(client, kind === 'team' ? 'service' : 'team', { name: 'Other', external_id: 'x' });
    // Its own is not another one's.
    await client.post(`${path}/${one.id}/restore`);
    const again = await client.patch(`${path}/${one.id}`, { external_id: 'x', name: 'Renamed' }, at(3));
    expect([again.status, again.body[kind].name]).toEqual([200, 'Renamed']);
  });

  test('is given to one of several at the same time', async () => {
    const client = service.as(newWorkspace());
    const made = await Promise.all([1, 2].map(async (n) => create(client, kind, { name: `n${n}` })));
    const answers = await Promise.all([
      ...made.map(async ({ id }) => client.patch(`${path}/${id}`, { external_id: 'x' }, at(1))),
      ...[3, 4, 5].map(async (n) => client.post(path, { name: `n${n}`, external_id: 'x' })),
    ]);
    const winners = answers.filter(({ status }) => status < 300);
    expect(winners).toHaveLength(1);
    const { id } = winners[0]!.body[kind];
    for (const answer of answers) if (!winners.includes(answer)) expect(answer).toMatchObject(taken(id));
  });

  test('a refusal is the outcome of an idempotency key', async () => {
    const client = service.as(newWorkspace());
    const one = await create(client, kind, { name: 'One', external_id: 'x' });
    const keyed = client.with({ 'Idempotency-Key': 'k' });
    const refused = await keyed.post(path, { name: 'Two', external_id: 'x' });
    expect(refused).toMatchObject(taken(one.id));
    await client.patch(`${path}/${one.id}`, { external_id: null }, at(1));
    const replayed = await keyed.post(path, { name: 'Two', external_id: 'x' });
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([409, 'true']);
  });
});

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
