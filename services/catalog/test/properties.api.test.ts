import { expect, test } from '@jest/globals';
import { patchEachProperty } from '@tocsin/testing';
import { servicePatch, teamPatch } from '../src/http/wire.ts';
import { create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

test.each([
  ['service', servicePatch],
  ['team', teamPatch],
] as const)('each property of a %s that is changed alone comes back', async (kind, schema) => {
  const client = service.as(newWorkspace());
  const team = await create(client, 'team', { name: 'Owner' });
  const patched = await patchEachProperty({
    client,
    schema,
    values: ['t0', team.id],
    create: async () => `/api/v1/${kind}s/${(await create(client, kind, { name: 'x' })).id}`,
  });
  for (const { name, value, path, before, after } of patched) {
    expect([name, after]).toEqual([name, expect.objectContaining({ [name]: value, revision: before.revision + 1 })]);
    expect((await client.get(path)).body[kind]).toMatchObject({ [name]: value });
  }
});
