import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CustomFieldDefinition, FIELD_TYPES, type FieldType } from '@tocsin/contracts';
import { anything, typedValue } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import { freshWorkspace, type Workspace } from './fields.ts';
import { startService, type TestService } from './service.ts';

let service: TestService;
beforeAll(async () => void (service = await startService()));
afterAll(async () => service.stop());

const INCIDENTS = '/api/v1/incidents';

describe('a value that a field accepts', () => {
  test('at creation, by PATCH and as a default reads back equal', async () => {
    await fc.assert(
      fc.asyncProperty(typedValue, async ({ field_type, config, value }) => {
        const workspace = freshWorkspace(service);
        const rules = { field_type, ...(config !== null && { config }) };
        await workspace.define({ ...rules, slug: 'given' });
        await workspace.define({ ...rules, slug: 'set' });
        await workspace.define({ ...rules, slug: 'default', default_value: value });
        // JSON converts a negative zero into zero.
        const sent: unknown = JSON.parse(JSON.stringify(value));
        const path = await workspace.declare({ given: sent });
        const patched = await workspace.client.patch(`${path}/custom-fields`, {
          values: [{ slug: 'set', value: sent }],
        });
        expect(patched.body.values.map((row: { value: unknown }) => row.value)).toEqual([sent, sent, sent]);
        const { body } = await workspace.client.get(path);
        expect(body.incident.custom_fields).toEqual({ given: sent, set: sent, default: sent });
        expect(body.incident.revision).toBe(2);
      }),
      { numRuns: 100 },
    );
  });
});

describe('any JSON at all', () => {
  const fields = new Map<FieldType, CustomFieldDefinition>();
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = freshWorkspace(service);
    for (const field_type of FIELD_TYPES) {
      const config = field_type.endsWith('select') ? { options: ['', 'eu', 'us'] } : undefined;
      fields.set(field_type, await workspace.define({ field_type, config }));
    }
  });

  test('as a value is stored unchanged or rejected with its field', async () => {
    const seen = { 201: 0, 400: 0 };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FIELD_TYPES), anything, async (type, value) => {
        const given = [{ field_id: fields.get(type)?.id, value }];
        const { status, body } = await workspace.client.post(INCIDENTS, { title: 'x', custom_field_values: given });
        expect([201, 400]).toContain(status);
        seen[status as keyof typeof seen] += 1;
        if (status === 400) expect(body.field).toMatch(/^custom_field_values\.0\.value(\.|$)/);
        else {
          const kept = JSON.parse(JSON.stringify(value)) as unknown;
          const expected = kept === null ? {} : { [fields.get(type)?.slug ?? '']: kept };
          expect((await workspace.client.get(`${INCIDENTS}/${body.incident.id}`)).body.incident.custom_fields).toEqual(
            expected,
          );
        }
      }),
      { numRuns: 200 },
    );
    // Otherwise the check above is meaningless.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(10);
  });

  test('as a body gets a valid response', async () => {
    const path = await workspace.declare();
    const item = fc.oneof(
      anything,
      fc.record(
        {
          field_id: fc.oneof(fc.integer({ min: -1, max: 20 }), anything),
          slug: anything,
          value: anything,
          x: anything,
        },
        { requiredKeys: [] },
      ),
    );
    const body = fc.oneof(anything, fc.record({ values: fc.oneof(anything, fc.array(item, { maxLength: 3 })) }));
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const patched = await workspace.client.patch(`${path}/custom-fields`, JSON.stringify(sent));
        expect([200, 400]).toContain(patched.status);
        const custom_field_values = (sent as { values?: unknown } | null)?.values;
        const declared = await workspace.client.post(INCIDENTS, { title: 'x', custom_field_values });
        expect([201, 400]).toContain(declared.status);
      }),
      { numRuns: 200 },
    );
  });
});
