import { expect, test } from '@jest/globals';
import { patchEachProperty } from '@tocsin/testing';
import { fieldPatch } from '../src/http/wire.ts';
import { FIELDS, freshUser, serviceForFile } from './service.ts';

const service = await serviceForFile();

test('each property of a definition that is changed alone comes back', async () => {
  const client = service.as(freshUser());
  const patched = await patchEachProperty({
    client,
    schema: fieldPatch,
    values: [{ max_length: 5 }],
    create: async (property) => {
      const external = property === 'external_source' && { category: 'external', external_source: 'erp' };
      const definition = { name: 'x', field_type: 'string', show_on_creation: true, ...external };
      return `${FIELDS}/${(await client.post(FIELDS, definition)).body.field.id}`;
    },
  });
  for (const { name, value, path, before, after } of patched) {
    expect([name, after]).toEqual([name, expect.objectContaining({ [name]: value, revision: before.revision + 1 })]);
    expect((await client.get(path)).body.field).toMatchObject({ [name]: value });
  }
});
