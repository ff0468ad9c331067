import { describe, expect, test } from '@jest/globals';
import { typedValue } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import { FIELDS, freshUser, revision, serviceForFile } from './service.ts';

const service = await serviceForFile();

describe('any input', () => {
  test('a valid config and default are stored as they were sent', async () => {
    const client = service.as(freshUser());
    await fc.assert(
      fc.asyncProperty(typedValue, async ({ field_type, config, value }) => {
        const { status, body } = await client.post(FIELDS, { name: 'x', field_type, config, default_value: value });
        expect({ status, refused: body.message }).toEqual({ status: 201 });
        expect(body.field.config ?? null).toEqual(config);
        expect(JSON.stringify(body.field.default_value)).toBe(JSON.stringify(value));
        const { body: again } = await client.get(`${FIELDS}/${body.field.id}`);
        expect(again).toEqual(body);
        const same = { config, default_value: value };
        expect((await client.patch(`${FIELDS}/${body.field.id}`, same, revision(1))).body).toEqual(body);
      }),
      { numRuns: 150 },
    );
  });
});
