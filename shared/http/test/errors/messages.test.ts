import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type DomainError, validate } from '../../src/index.ts';

const option = z.union([z.string().max(3), z.strictObject({ value: z.string(), rank: z.int().optional() })]);
const schema = z.strictObject({
  text: z.string().min(2).max(4).optional(),
  filled: z.string().min(1).optional(),
  integer: z.int().min(1).max(100).optional(),
  number: z.number().gt(0).lt(10).multipleOf(0.5).optional(),
  flag: z.boolean().optional(),
  list: z.array(z.int()).min(1).max(2).optional(),
  kind: z.enum(['ticket', 'incident', 'postmortem']).optional(),
  literal: z.literal('all').optional(),
  object: z.strictObject({ inner: z.strictObject({ deep: z.int() }) }).optional(),
  record: z.record(z.string(), z.int()).optional(),
  options: z.array(option).optional(),
  nullable: z.union([z.strictObject({ a: z.int().optional() }), z.null()]).optional(),
  manager: z.union([z.literal(''), z.string().regex(/^\d$/, "Must be a user's ID")]).optional(),
  moment: z.iso.datetime({ precision: 3 }).optional(),
  uuid: z.uuid().optional(),
  coded: z.string().regex(/^x$/).optional(),
  own: z
    .string()
    .refine(() => false, 'Must be our own words')
    .optional(),
  wordless: z
    .string()
    .refine(() => false)
    .optional(),
  members: z.record(z.string().regex(/^x/, 'Must be a name that begins with x'), z.string()).optional(),
});

const messageOf = (property: string, value: unknown) => {
  try {
    validate(schema, { [property]: value });
  } catch (error) {
    const { code, field, message } = error as DomainError;
    return `${code === 'invalid_request' ? '' : `${code} `}${field}: ${message}`;
  }
  return 'accepted';
};

describe('the message of a validation error', () => {
  test.each<[string, unknown, string]>([
    ['text', 5, 'text: Must be text'],
    ['text', null, 'text: Must not be null'],
    ['text', 'a', 'text: Must be at least 2 characters'],
    ['text', 'aaaaa', 'text: Must be at most 4 characters'],
    ['text', '😀😀😀😀', 'accepted'],
    ['filled', '', 'filled: Must not be empty'],
    ['integer', 101, 'integer: Must be at most 100'],
    ['integer', 0, 'integer: Must be at least 1'],
    ['integer', 1.5, 'integer: Must be an integer'],
    ['integer', '1', 'integer: Must be an integer'],
    ['number', 'x', 'number: Must be a number'],
    ['number', 0, 'number: Must be greater than 0'],
    ['number', 10, 'number: Must be less than 10'],
    ['number', 0.3, 'number: Must be a multiple of 0.5'],
    ['flag', 'yes', 'flag: Must be true or false'],
    ['list', {}, 'list: Must be an array'],
    ['list', [], 'list: Must have at least 1 item'],
    ['list', ['a', 'b', 'c'], 'list: Must have at most 2 items'],
    ['list', [1, null], 'list.1: Must not be null'],
    ['kind', 'alert', 'kind: Must be one of ticket, incident, postmortem'],
    ['literal', 'none', 'literal: Must be all'],
    ['object', [], 'object: Must be an object'],
    ['object', {}, 'object.inner: Is required'],
    ['object', { inner: {} }, 'object.inner.deep: Is required'],
    ['object', { inner: { deep: 1 }, other: 1 }, 'unknown_field object.other: Is not a known property'],
    ['record', 'x', 'record: Must be an object'],
    ['record', { a: 'x' }, 'record.a: Must be an integer'],
    ['options', [5], 'options.0: Must be text or an object'],
    ['options', ['abcd'], 'options.0: Must be at most 3 characters'],
    ['options', [{ value: 1 }], 'options.0.value: Must be text'],
    ['options', [{ value: 1, more: 1 }], 'unknown_field options.0.more: Is not a known property'],
    ['nullable', 'x', 'nullable: Must be an object or null'],
    ['nullable', { b: 1 }, 'unknown_field nullable.b: Is not a known property'],
    ['manager', 'x', "manager: Must be a user's ID"],
    ['manager', 5, 'manager: Must be text'],
    ['moment', 'x', 'moment: Must be an RFC 3339 timestamp'],
    ['uuid', 'x', 'uuid: Must be a UUID'],
    ['coded', 'y', 'coded: Must be in the required form'],
    ['own', 'x', 'own: Must be our own words'],
    ['wordless', 'x', 'wordless: Must be a valid value'],
    ['members', { a: '' }, 'members.a: Must be a name that begins with x'],
    ['unknown', 1, 'unknown_field unknown: Is not a known property'],
    ['flga', 1, 'unknown_field flga: Is not a known property'],
    ['litteral', 1, 'unknown_field litteral: Is not a known property; did you mean literal?'],
    ['Moment', 1, 'unknown_field Moment: Is not a known property; did you mean moment?'],
  ])('of %s with %j', (property, value, expected) => expect(messageOf(property, value)).toBe(expected));

  test('names an unknown property before all other errors', () => {
    expect(() => validate(schema, { text: 5, object: { inner: 1, x: 1 } })).toThrow(
      expect.objectContaining({ code: 'unknown_field', field: 'object.x' }),
    );
  });
});
