import { expect, test } from '@jest/globals';
import { FIELDS, freshUser, revision, serviceForFile } from './service.ts';

const service = await serviceForFile();

const workspaceWith = (custom_fields: number) =>
  service.as({ workspace: { ...freshUser().workspace, quotas: { custom_fields } } });

const REFUSED_CREATE = { status: 400, code: 'invalid_request' };
const REFUSED_RESTORATION = { status: 409, code: 'invalid_resource_state' };

/** A new definition beyond the quota is an invalid request; a restoration conflicts with the state of the workspace. */
const refused = (subject: string, { status, code }: { status: number; code: string } = REFUSED_CREATE) => ({
  status,
  body: {
    code,
    message: expect.stringContaining(`at most ${subject} (quota custom_fields)`),
  },
});

const field = (name: string) => ({ name, field_type: 'date' });

test('concurrent creates give exactly the quota', async () => {
  const client = workspaceWith(3);
  const answers = await Promise.all(Array.from({ length: 12 }, async () => client.post(FIELDS, field('x'))));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expect(answer).toMatchObject(refused('3 active custom fields'));
  }
});

test('an archived field makes room for another, and can be restored only if there is room', async () => {
  const client = workspaceWith(1);
  const { body } = await client.post(FIELDS, field('first'));
  const path = `${FIELDS}/${body.field.id}`;
  await client.delete(path);
  const second = await client.post(FIELDS, field('second'));
  expect(second.status).toBe(201);
  expect(await client.post(`${path}/restore`)).toMatchObject(refused('1 active custom fields', REFUSED_RESTORATION));
  // A change of an existing field needs no room.
  expect((await client.patch(`${FIELDS}/${second.body.field.id}`, { name: 'new' }, revision(1))).status).toBe(200);
  await client.delete(`${FIELDS}/${second.body.field.id}`);
  expect((await client.post(`${path}/restore`)).status).toBe(200);
});

test('creating and archiving in turns ends at four times the quota', async () => {
  const client = workspaceWith(1);
  for (let number = 0; number < 4; number += 1) {
    const { body } = await client.post(FIELDS, field('x'));
    await client.delete(`${FIELDS}/${body.field.id}`);
  }
  expect(await client.post(FIELDS, field('x'))).toMatchObject(refused('4 custom fields with the archived ones'));
});

test('without a setting, a workspace has at most 500 active fields', async () => {
  const client = service.as(freshUser());
  for (let start = 0; start < 500; start += 50) {
    const answers = Array.from({ length: 50 }, async (_, index) => client.post(FIELDS, field(`f${start + index}`)));
    for (const { status } of await Promise.all(answers)) expect(status).toBe(201);
  }
  expect(await client.post(FIELDS, field('one more'))).toMatchObject(refused('500 active custom fields'));
});
