import { beforeAll, describe, expect, test } from '@jest/globals';
import { type CustomFieldDefinition, FIELD_TYPES, type FieldType } from '@tocsin/contracts';
import { anything, decimalText, sameDecimal, typedValue } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import { freshWorkspace, type Workspace } from './fields.ts';
import { serviceForFile } from './service.ts';

const service = await serviceForFile();

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

describe('a number', () => {
  /** Response bodies with each number as the text that the server sent. */
  const withNumbersAsTexts = (text: string) =>
    JSON.parse(text, (_name, value: unknown, context?: { source: string }) =>
      typeof value === 'number' ? context?.source : value,
    ) as { incident: { custom_fields: Record<string, Record<string, string>> } };

  test('as a client writes it is refused with its field, or reads back and is found as the same number', async () => {
    const workspace = freshWorkspace(service);
    const fields = {
      number: await workspace.define({ field_type: 'number' }),
      monetary: await workspace.define({ field_type: 'monetary' }),
      json: await workspace.define({ field_type: 'json' }),
    };
    const seen = { 200: 0, 400: 0 };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('number', 'monetary', 'json'), decimalText, async (type, decimal) => {
        const { slug } = fields[type];
        const [value, at] = {
          number: [decimal, ''],
          monetary: [`{"amount":${decimal},"currency":"EUR"}`, '.amount'],
          json: [`{"amount":${decimal}}`, '.amount'],
        }[type] as [string, string];
        const path = await workspace.declare();
        const set = `{"values":[{"slug":"${slug}","value":${value}}]}`;
        const { status, body } = await workspace.client.patch(`${path}/custom-fields`, set);
        seen[status as keyof typeof seen] += 1;
        const filter = JSON.stringify({ slug, operator: 'eq', value: 0 }).replace('"value":0', `"value":${value}`);
        const list = `${INCIDENTS}?custom_filter=${encodeURIComponent(filter)}`;
        if (status === 400) {
          expect(body).toMatchObject({ code: 'invalid_request', field: `values.0.value${at}` });
          const refused = await workspace.client.get(list);
          if (type !== 'json') expect(refused.body).toMatchObject({ field: `custom_filter.0.value${at}` });
          return;
        }
        const { custom_fields } = withNumbersAsTexts((await workspace.client.get(path)).text).incident;
        const read = custom_fields[slug];
        expect(sameDecimal(typeof read === 'string' ? read : (read?.['amount'] ?? ''), decimal)).toBe(true);
        if (type === 'json') return;
        const { incidents } = (await workspace.client.get(list)).body;
        expect(incidents.map(({ id }: { id: number }) => `${INCIDENTS}/${id}`)).toContain(path);
      }),
      { numRuns: 100 },
    );
    // Otherwise the check above is meaningless.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(10);
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
