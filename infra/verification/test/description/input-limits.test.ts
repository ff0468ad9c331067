import { describe, expect, test } from '@jest/globals';
import { DomainError, validate } from '@tocsin/http';
import { z } from 'zod';
import { nodesOf, OF_OTHERS, REQUEST_SCHEMAS } from '../contract-schemas.ts';

/** IDs that are texts: one of any form and length is not found, and the header limit bounds them. */
const PATH_TEXTS = new Set(['id', 'reference']);

const nodes = REQUEST_SCHEMAS.filter(
  ({ operation, part }) => part !== 'body' || !OF_OTHERS.includes(operation),
).flatMap(({ operation, part, schema }) =>
  nodesOf(schema).map((node) => ({ ...node, operation, part, name: `${operation} ${part} ${node.path}` })),
);

const refuses = (schema: z.ZodType, input: unknown) => !schema.safeParse(input).success;
const maxItemsOf = (schema: z.ZodArray) => z.toJSONSchema(schema, { unrepresentable: 'any' }).maxItems ?? Infinity;

/** The longest text that the API description allows. Undefined if a pattern or a format is the limit. */
function maxLengthOf(schema: z.ZodString): number | undefined {
  const { maxLength } = z.toJSONSchema(schema);
  return maxLength;
}

/** Texts that would pass a check of one kind of character. */
const longTexts = (length: number) => ['a', 'A', '1', '_', '😀'].map((character) => character.repeat(length));

describe('everything that a request can contain has a maximum size', () => {
  const arrays = nodes.filter(({ schema }) => schema instanceof z.ZodArray);
  test.each(arrays.map(({ name, schema }) => [name, schema as z.ZodArray] as const))('the items of %s', (_, schema) => {
    const max = maxItemsOf(schema);
    // The changes of an imported entry have all values and all properties.
    expect(max).toBeLessThanOrEqual(1_100);
    const tooMany = schema.safeParse(Array.from({ length: max + 1 }, () => ({ wrong: true })));
    // Only this error: the items of an array that is too long are not looked at.
    expect(tooMany.error?.issues).toEqual([expect.objectContaining({ code: 'too_big', maximum: max })]);
  });

  const texts = nodes.filter(({ schema }) => schema instanceof z.ZodString);
  test.each(
    texts.map(({ name, schema, part, path }) => [name, { schema: schema as z.ZodString, part, path }] as const),
  )('the length of %s', (_, { schema, part, path }) => {
    if (part === 'params' && PATH_TEXTS.has(path)) return;
    const max = maxLengthOf(schema);
    for (const text of longTexts(70_000)) expect(refuses(schema, text)).toBe(true);
    if (max === undefined) return expect(z.toJSONSchema(schema).pattern).toBeDefined();
    for (const text of longTexts(max + 1)) expect(refuses(schema, text)).toBe(true);
  });

  test.each([
    ['createService body name', 128],
    ['createService body description', 10_000],
    ['createService body external_id', 200],
    ['createService body tags.*', 128],
    ['createService body observability_names.*', 128],
    ['createTeam body name', 128],
    ['createTeam body slug', 64],
    ['createCustomField body name', 64],
    ['createCustomField body slug', 64],
    ['createUser body name', 255],
    ['createApiKey body name', 255],
    ['createWebhook body name', 128],
    ['createIncident body external_id', 200],
    ['createTimelineEvent body body', 65_536],
    ['createFollowUp body title', 255],
    ['createFollowUp body description', 10_000],
    ['resolveIncident body resolution_note', 10_000],
    ['listServices query q', 200],
  ])('%s has at most %i characters, as the contract says', (name, longest) => {
    const limits = texts.filter((text) => text.name === name).map(({ schema }) => maxLengthOf(schema as z.ZodString));
    expect(limits).toContain(longest);
  });

  test('a record has few properties', () => {
    const records = nodes.filter(({ schema }) => schema instanceof z.ZodRecord);
    expect(records).not.toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`key${index}`, 'x']));
    for (const { schema } of records) expect(refuses(schema, many)).toBe(true);
  });

  test('a value of any type has its limit elsewhere', () => {
    const unknown = nodes.filter(({ schema }) => schema instanceof z.ZodUnknown).map(({ path }) => path);
    const changed = ['from', 'to'].map((name) => `incidents.*.changelog.*.changes.*.${name}`);
    // An item of an import is checked by itself.
    const imported = ['incidents.*', 'incidents.*.values.*', ...changed];
    const values = ['custom_field_values.*.value', 'values.*.value', 'default_value'];
    // And so is one of a bulk.
    expect(new Set(unknown)).toEqual(new Set([...values, ...imported, 'items.*']));
  });

  test('objects have no properties but the known ones, unless other systems make them', () => {
    const strict = REQUEST_SCHEMAS.filter(({ schema }) =>
      schema.safeParse({ unknown: 1 }).error?.issues.some(isUnknown),
    );
    const others = REQUEST_SCHEMAS.filter((each) => !strict.includes(each));
    expect(others.map(({ operation, part }) => [operation, part])).toEqual(OF_OTHERS.map((each) => [each, 'body']));

    for (const { name, schema } of nodes) {
      if (schema instanceof z.ZodObject && !schema.safeParse({ unknown: 1 }).error?.issues.some(isUnknown)) {
        throw new Error(`${name} accepts unknown properties`);
      }
    }
  });

  const isUnknown = ({ code }: { code: string }) => code === 'unrecognized_keys';
});

describe('messages are in plain words', () => {
  /** Words of the validator's own messages. */
  const LIBRARY = /expected|invalid input|received|too big|too small|unrecognized|pattern|nonoptional|undefined|regex/i;
  const PLAIN = /^(Must (be|have|not) .|Is (required|not|only) ?)/;
  const WRONG: unknown[] = [
    undefined,
    null,
    true,
    0,
    1.5,
    -1,
    2 ** 60,
    '',
    ' ',
    'x',
    'x'.repeat(70_000),
    [],
    [null],
    [1, 'x', {}],
    ['x', 'x'],
    Array.from({ length: 1_001 }, () => 'x'),
    {},
    { unknown: 1 },
    { value: 1 },
    { a: { b: 1 } },
  ];

  /** A body with a value at a path; items are the first ones of their arrays. */
  const wrap = (path: string, value: unknown): unknown =>
    path.split('.').reduceRight((inner, name) => (name === '*' ? [inner] : { [name]: inner }), value);

  test.each(REQUEST_SCHEMAS.map(({ operation, part, schema }) => [`${operation} ${part}`, schema] as const))(
    '%s',
    (_, schema) => {
      const messages = nodesOf(schema).flatMap(({ path }) =>
        WRONG.flatMap((value) => messageOf(schema, path === '' ? value : wrap(path, value))),
      );
      expect(messages).not.toEqual([]);
      for (const message of new Set(messages)) {
        expect(message).toMatch(PLAIN);
        expect(message).not.toMatch(LIBRARY);
      }
    },
  );

  function messageOf(schema: z.ZodObject, input: unknown): string[] {
    try {
      validate(schema, input);
      return [];
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return [error.message];
    }
  }
});
