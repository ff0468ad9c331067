import { describe, expect, test } from '@jest/globals';
import { type FieldConfig, type FieldType } from '@tocsin/schemas';
import { decimalText, sameDecimal, typedValue } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

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

/** Refuses nearly every value of the type. */
const STRICT: Partial<Record<FieldType, FieldConfig>> = {
  string: { max_length: 1 },
  number: { min: 1e12 },
  monetary: { min: 1e12, currency: 'CHF' },
  select: { options: ['another option'] },
  multi_select: { options: ['another option'] },
};

test('a value, or none, that is stored may be written again whatever its field accepts now', async () => {
  await fc.assert(
    fc.asyncProperty(typedValue, fc.boolean(), async ({ field_type, config, value }, isSet) => {
      const workspace = freshWorkspace(service);
      const field = await workspace.define({ slug: 'a', field_type, ...(config !== null && { config }) });
      const sent: unknown = JSON.parse(JSON.stringify(value));
      const path = await workspace.declare(isSet ? { a: sent } : {});
      const before = await workspace.client.get(`${path}/custom-fields`);
      await workspace.redefine(field.id, { config: STRICT[field_type] ?? {}, required: true });
      const values = [{ slug: 'a', value: isSet ? sent : null }];
      expect((await workspace.client.patch(`${path}/custom-fields`, { values })).status).toBe(200);
      const after = await workspace.client.get(`${path}/custom-fields`);
      expect(after.body).toEqual(before.body);
      expect((await workspace.client.get(path)).body.incident.revision).toBe(1);
    }),
    { numRuns: 60 },
  );
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
