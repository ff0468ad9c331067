import { json } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { ApiDescription, ApiSchema } from '../../../../gateway/src/description.ts';

/** Values of properties, by the name of the property; those of an object with this name or of the items of a list. */
export type Known = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Longer texts are only of one repeated character. */
const MAX_LENGTH = 40;
const MAX_ITEMS = 4;
const MAX_SIZE = 1_000;

/** A schema is compiled once: that takes longer than thousands of bodies. */
const validators = new WeakMap<ApiSchema, ValidateFunction>();

/** A validator that is as strict as it can be: it knows each keyword, and checks formats. */
export function validatorOf({ components }: ApiDescription, schema: ApiSchema): ValidateFunction {
  const compiled = validators.get(schema);
  if (compiled !== undefined) return compiled;
  const ajv = new Ajv2020({ allowUnionTypes: true, allErrors: true });
  (ajvFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addVocabulary(['components', 'x-default', 'x-trimmed', 'example']);
  const validator = ajv.compile({ ...schema, components });
  validators.set(schema, validator);
  return validator;
}

/** Whether a body is valid in its own spelling, or without white space around texts, composed, and with its URL in ASCII. */
export const allows = (isValid: ValidateFunction, body: unknown): boolean => isValid(spelled(body)) || isValid(body);

function spelled(value: unknown): unknown {
  if (typeof value === 'string') return value.trim().normalize('NFC');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(spelled);
  const members = Object.entries(value).map(([name, member]) => [name, spelled(member)] as const);
  return Object.fromEntries(
    members.map(([name, member]) => [name, name === 'url' ? (URL.parse(String(member))?.href ?? member) : member]),
  );
}

/** Anything that is valid by a schema of the description. @throws for a keyword that it does not know */
export function validBodies(
  description: ApiDescription,
  schema: ApiSchema,
  valuesByName: Known = {},
): fc.Arbitrary<unknown> {
  const isValid = validatorOf(description, schema);
  return arbitraryOf(schema, { schemas: description.components?.schemas ?? {}, valuesByName }).filter((body) =>
    isValid(body),
  );
}

interface Context {
  schemas: Readonly<Record<string, ApiSchema>>;
  valuesByName: Known;
}

function arbitraryOf(schema: ApiSchema, context: Context): fc.Arbitrary<unknown> {
  const { $ref, type, enum: values, anyOf, oneOf } = schema;
  if ($ref !== undefined) return arbitraryOf(context.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, context);
  if (values !== undefined) return fc.constantFrom(...values);
  const options = anyOf ?? oneOf ?? (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : undefined);
  if (options !== undefined) return fc.oneof(...options.map((option) => arbitraryOf(option, context)));
  if (type === 'string') return textOf(schema);
  if (type === 'integer' || type === 'number') return numberOf(schema);
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (type === 'array') return listOf(schema, context);
  if (type === 'object') return objectOf(schema, context);
  if (type === undefined) return fc.oneof(json, fc.constant(null));
  throw new Error(`cannot make a value of the type ${String(type)}`);
}

const character = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((text) => text !== '\0');
const BLANK = [' ', '\t\r\n', '\u00A0', '\u200B', '\u2800', '\u3164', '\u001C', '\uFEFF'];

const day = fc.date({
  min: new Date('0001-01-02T00:00:00Z'),
  max: new Date('9999-12-30T00:00:00Z'),
  noInvalidDate: true,
});
const ends = fc.constantFrom('Z', 'z', '.5Z', '.123456789Z', '+00:00', '-00:00', '+05:45', '-11:30', '.5+23:59');
const moment = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(day, ends).map(([date, end]) => `${date.toISOString().slice(0, 19)}${end}`) },
  fc.constantFrom('2016-12-31T23:59:60Z', '2024-02-29t00:00:00z', '0000-12-31T23:59:59Z', '9999-12-31T23:59:59-01:00'),
);
const url = fc.oneof(
  { weight: 8, arbitrary: fc.webUrl({ validSchemes: ['https', 'HTTPS'], withQueryParameters: true }) },
  fc.webAuthority({ withIPv4: true, withIPv6: true, withPort: true }).map((authority) => `https://${authority}/hook`),
);

function textOf({ pattern, format, minLength = 0, maxLength = MAX_SIZE }: ApiSchema): fc.Arbitrary<string> {
  const expression = new RegExp(pattern ?? '');
  const any = fc.oneof(
    fc.string({ unit: character, minLength, maxLength: Math.max(minLength, Math.min(maxLength, MAX_LENGTH)) }),
    fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, MAX_LENGTH)) }),
    fc.constantFrom(...BLANK),
    fc
      .constantFrom('a', '1', 'é', '😀', 'x ')
      .map((text) => text.repeat(Math.min(maxLength, MAX_SIZE) / (text === 'x ' ? 2 : 1))),
  );
  const special = format === 'date-time' ? moment : format === 'uri' ? url : undefined;
  const fitting = special ?? (pattern === undefined ? any : fc.stringMatching(expression));
  return fc
    .oneof({ weight: 3, arbitrary: fitting }, { weight: special === undefined ? 1 : 0, arbitrary: any })
    .filter((text) => {
      const { length } = [...text];
      return length >= minLength && length <= maxLength && expression.test(text) && !text.includes('\0');
    });
}

function numberOf({ type, minimum = -1e300, maximum = 1e300, exclusiveMinimum }: ApiSchema): fc.Arbitrary<number> {
  const isFitting = (value: number) =>
    value >= minimum && value <= maximum && value > (exclusiveMinimum ?? -Infinity) && !Object.is(value, -0);
  const edges = [minimum, maximum, -1, 0, 1, 2 ** 53 - 1, 2 ** 53, 1e20].filter(isFitting);
  const whole = fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31 - 1) });
  const any = type === 'integer' ? whole : fc.oneof(whole, fc.double({ min: minimum, max: maximum, noNaN: true }));
  return fc.oneof({ weight: 4, arbitrary: any }, fc.constantFrom(...edges)).filter(isFitting);
}

function listOf({ items = {}, minItems = 0, maxItems = 10, uniqueItems }: ApiSchema, context: Context) {
  const item = arbitraryOf(items, context);
  const size = { minLength: minItems, maxLength: Math.min(maxItems, minItems + MAX_ITEMS) };
  return uniqueItems === true
    ? fc.uniqueArray(item, { ...size, selector: (value) => JSON.stringify(value) })
    : fc.array(item, size);
}

function objectOf(schema: ApiSchema, context: Context): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties: more, maxProperties = 10 } = schema;
  if (typeof more === 'object') {
    const names = arbitraryOf({ type: 'string', maxLength: 60, ...schema.propertyNames }, context);
    return fc.dictionary(names as fc.Arbitrary<string>, arbitraryOf(more, context), {
      maxKeys: Math.min(maxProperties, MAX_ITEMS),
      noNullPrototype: true,
    });
  }
  const members = Object.entries(properties).map(([name, property]) => {
    // What a schema lists needs no knowledge of the workspace.
    const arbitrary = property.enum === undefined ? context.valuesByName[name] : undefined;
    return [name, arbitrary ?? arbitraryOf(property, context)] as const;
  });
  return fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true });
}
