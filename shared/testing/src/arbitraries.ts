import { FIELD_TYPES, type FieldConfig, type FieldType } from '@tocsin/schemas';
import fc from './fuzz.ts';

/** A custom field's type and config, with a value that it accepts. */
export interface TypedValue {
  field_type: FieldType;
  config: FieldConfig | null;
  value: unknown;
}

/** Text of any script that Postgres can store. */
export const text = fc
  .string({ unit: 'binary', maxLength: 20 })
  .map((characters) => characters.replaceAll('\0', '\uFFFD'));

/** Any JSON value that a request may contain, except null itself. */
export const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value): unknown => JSON.parse(JSON.stringify(value), (_key, member) => storable(member)))
  .filter((value) => value !== null);

/** Keeps numbers within 2^53. */
const storable = (member: unknown) => (typeof member === 'number' ? withoutNegativeZero(member % 1e9) : member);

/** JSON writes -0 as 0. */
const withoutNegativeZero = (value: number) => value + 0;

const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...Array.from('0001234567899')), maxLength });

/** The text of any JSON number: as doubles are written, with more digits than they have, with any exponent. */
export const decimalText = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.integer({ min: -1e9, max: 1e9 }).map((amount) => (amount / 100).toFixed(4)),
    fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.integer({ min: 1, max: 9 }),
        digits(17),
        digits(10),
        fc.constantFrom('', '0', '25'),
      )
      .map(([sign, first, whole, fraction, end]) => `${sign}${first}${whole}${fraction + end && `.${fraction}${end}`}`),
    fc
      .tuple(
        fc.constantFrom('0.', '-0.0', '7.'),
        digits(25),
        fc.integer({ min: -340, max: 20 }),
        fc.constantFrom('e', 'E'),
      )
      .map(([begin, fraction, exponent, e]) => `${begin}${fraction}1${e}${exponent}`),
  )
  .map((text) => text.replace('e+', 'e'));

/** Whether two JSON numbers are the same, computed on whole numbers. */
export function sameDecimal(a: string, b: string): boolean {
  const [x, y] = [wholeAndExponent(a), wholeAndExponent(b)];
  const least = Math.min(x.exponent, y.exponent);
  return x.whole * 10n ** BigInt(x.exponent - least) === y.whole * 10n ** BigInt(y.exponent - least);
}

function wholeAndExponent(text: string): { whole: bigint; exponent: number } {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { whole: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

const noConfig = fc.constant(null);
const cents = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((amount) => amount / 100);
const number = fc.oneof(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.integer(), cents).map(withoutNegativeZero);
const day = fc
  .date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const currency = fc.constantFrom('EUR', 'USD', 'XTS');
const option = fc.oneof(fc.constantFrom('', 'eu', 'us', 'EU'), text);
const options = fc.uniqueArray(option, { minLength: 1, maxLength: 5 });

const ACCEPTED: Record<FieldType, fc.Arbitrary<Omit<TypedValue, 'field_type'>>> = {
  string: text.chain((value) =>
    fc.record({
      value: fc.constant(value),
      config: fc.oneof(noConfig, fc.constant({ max_length: Math.max(1, [...value].length) })),
    }),
  ),
  number: fc.oneof(
    number.map((value) => ({ value, config: { min: value, max: value } })),
    fc.record({ value: cents, config: fc.constant({ precision: 2 }) }),
    fc.record({ value: number, config: noConfig }),
  ),
  boolean: fc.record({ value: fc.boolean(), config: noConfig }),
  date: fc.record({ value: day.map((instant) => instant.slice(0, 10)), config: noConfig }),
  time: fc.record({
    value: fc.tuple(day, fc.constantFrom(5, 8)).map(([instant, length]) => instant.slice(11, 11 + length)),
    config: noConfig,
  }),
  datetime: fc.record({
    value: fc
      .tuple(day, fc.constantFrom('Z', 'z', '+00:00', '-00:00', '+05:45', '-11:30', '.5Z', '.123456789+01:00'))
      .map(([instant, end]) => `${instant.slice(0, 19)}${end}`),
    config: noConfig,
  }),
  monetary: fc.record({
    value: fc.record({ amount: cents, currency }),
    config: fc.constantFrom(null, {}, { precision: 2, currencies: ['EUR', 'USD', 'XTS'] }),
  }),
  json: fc.record({ value: json, config: noConfig }),
  select: options.chain((values) =>
    fc.record({
      value: fc.constantFrom(...values),
      config: fc.constantFrom({ options: values }, { allow_custom: true }),
    }),
  ),
  multi_select: options.chain((values) =>
    fc.record({
      value: fc.shuffledSubarray(values),
      config: fc.constantFrom({ options: values.map((value) => ({ value })) }, { allow_custom: true }),
    }),
  ),
};

/** A field of any type, with a value that it accepts. */
export const typedValue: fc.Arbitrary<TypedValue> = fc
  .constantFrom(...FIELD_TYPES)
  .chain((field_type) => ACCEPTED[field_type].map((accepted) => ({ field_type, ...accepted })));
