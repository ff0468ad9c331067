import { describe, expect, test } from '@jest/globals';
import { FIELD_TYPES } from '@tocsin/contracts';
import { anything, typedValue } from '@tocsin/testing/arbitraries';
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

  test('any other config or default is accepted, or refused with its field', async () => {
    const client = service.as(freshUser());
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...FIELD_TYPES),
        anything,
        anything,
        async (field_type, config, default_value) => {
          const { status, body } = await client.post(FIELDS, { name: 'x', field_type, config, default_value });
          if (status === 201) return;
          expect({ status, code: body.code }).toEqual({
            status: 400,
            code: expect.stringMatching(/^(invalid_request|unknown_field)$/),
          });
          expect(body.field).toMatch(/^(config|default_value)(\.|$)/);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('any change is applied or refused', async () => {
    const client = service.as(freshUser());
    const { body: created } = await client.post(FIELDS, { name: 'x', field_type: 'json' });
    let current: number = created.field.revision;
    const property = fc.constantFrom(
      'name',
      'description',
      'default_value',
      'config',
      'required',
      'sort_order',
      'category',
      'visibility_level',
      'show_on_creation',
      'required_on_creation',
      'auto_add_to_layout',
      'external_source',
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(property, anything, { minKeys: 1, maxKeys: 2 }), async (change) => {
        const path = `${FIELDS}/${created.field.id}`;
        const { status, body } = await client.patch(path, change, revision(current));
        expect([200, 400]).toContain(status);
        if (status === 200) current = body.field.revision;
      }),
      { numRuns: 200 },
    );
    // Otherwise no change was applied and the test proves nothing.
    expect(current).toBeGreaterThan(created.field.revision);
  });
});
