import { describe, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import {
  FIELD_TYPES,
  type FieldConfig,
  fieldConfig,
  type FieldType,
  findConfigViolation,
  findValueViolation,
  optionValues,
} from '../src/index.ts';

/** The violation's path, or `accepted`. */
const violationPath = (field_type: FieldType, config: FieldConfig, value: unknown) =>
  findValueViolation({ field_type, config }, value)?.path ?? 'accepted';

describe('values that a field accepts', () => {
  test.each<[FieldType, FieldConfig, unknown]>([
    ['string', {}, 'db'],
    ['string', {}, ''],
    ['string', {}, '   '],
    ['string', { max_length: 3 }, 'äöü'],
    // Three code points, six UTF-16 units, twelve bytes.
    ['string', { max_length: 3 }, '🔥🔥🔥'],
    // A combining mark is a code point of its own.
    ['string', { max_length: 2 }, 'e\u0301'],
    ['number', {}, 0],
    ['number', {}, -1.5e-9],
    ['number', {}, Number.MAX_SAFE_INTEGER],
    ['number', { min: 1, max: 3 }, 1],
    ['number', { min: 1, max: 3 }, 3],
    ['number', { min: -0.5 }, -0.5],
    ['number', { precision: 0 }, 12],
    ['number', { precision: 0 }, 1e15],
    ['number', { precision: 1 }, 1.0],
    ['number', { precision: 2 }, 0.29],
    ['number', { precision: 2 }, 4.35],
    ['number', { precision: 3 }, 1.005],
    ['number', { precision: 2 }, 1234567890123.45],
    ['number', { precision: 7 }, 1e-7],
    ['number', { precision: 8 }, 1.5e-7],
    ['number', { precision: 10 }, 0.1234567891],
    ['boolean', {}, true],
    ['boolean', {}, false],
    ['date', {}, '2026-11-20'],
    ['date', {}, '2024-02-29'],
    ['date', {}, '2000-02-29'],
    ['date', {}, '0001-01-01'],
    ['date', {}, '9999-12-31'],
    ['time', {}, '00:00'],
    ['time', {}, '23:59'],
    ['time', {}, '23:59:59'],
    ['datetime', {}, '2026-11-20T09:30:00Z'],
    ['datetime', {}, '2026-11-20t09:30:00.123456789z'],
    ['datetime', {}, '2026-11-20T23:30:00+05:45'],
    ['datetime', {}, '2024-02-29T00:00:00-11:00'],
    ['monetary', {}, { amount: 0, currency: 'EUR' }],
    ['monetary', {}, { currency: 'XTS', amount: -12.345 }],
    ['monetary', { currency: 'EUR' }, { amount: 1, currency: 'EUR' }],
    ['monetary', { currencies: ['EUR', 'USD'] }, { amount: 1, currency: 'USD' }],
    ['monetary', { min: 0, max: 10, precision: 2 }, { amount: 9.99, currency: 'EUR' }],
    ['json', {}, null],
    ['json', {}, ''],
    ['json', {}, false],
    ['json', {}, 0],
    ['json', {}, {}],
    ['json', {}, []],
    ['json', {}, { a: [{ b: null }] }],
    ['select', { options: ['eu', 'us'] }, 'us'],
    ['select', { options: [{ value: 'eu', label: 'Europe' }] }, 'eu'],
    ['select', { options: [''] }, ''],
    ['select', { options: ['eu'], allow_custom: true }, 'ap'],
    ['select', { allow_custom: true }, ''],
    ['multi_select', { options: ['eu', 'us'] }, []],
    ['multi_select', { options: ['eu', { value: 'us' }] }, ['us', 'eu']],
    ['multi_select', { options: ['eu'], allow_custom: true }, ['eu', 'EU']],
  ])('%s %j accepts %j', (type, config, value) => {
    expect(violationPath(type, config, value)).toBe('accepted');
  });
});

describe('values that a field rejects, and the path of the violation', () => {
  test.each<[FieldType, FieldConfig, unknown, string]>([
    ['string', {}, 5, ''],
    ['string', {}, null, ''],
    ['string', {}, ['a'], ''],
    ['string', { max_length: 3 }, 'abcd', ''],
    ['string', { max_length: 3 }, '🔥🔥🔥🔥', ''],
    ['string', { max_length: 1 }, 'e\u0301', ''],
    ['number', {}, '5', ''],
    ['number', {}, null, ''],
    ['number', {}, Infinity, ''],
    ['number', {}, Number.NaN, ''],
    ['number', { min: 1 }, 0.999, ''],
    ['number', { max: 3 }, 3.001, ''],
    ['number', { precision: 0 }, 0.5, ''],
    ['number', { precision: 2 }, 1.005, ''],
    ['number', { precision: 2 }, 0.1 + 0.2, ''],
    ['number', { precision: 6 }, 1e-7, ''],
    ['number', { precision: 7 }, 1.5e-7, ''],
    ['boolean', {}, 0, ''],
    ['boolean', {}, 'true', ''],
    ['boolean', {}, null, ''],
    ['date', {}, '2026-02-29', ''],
    ['date', {}, '1900-02-29', ''],
    ['date', {}, '2026-04-31', ''],
    ['date', {}, '2026-13-01', ''],
    ['date', {}, '2026-00-10', ''],
    ['date', {}, '2026-01-00', ''],
    ['date', {}, '0000-01-01', ''],
    ['date', {}, '10000-01-01', ''],
    ['date', {}, '2026-1-1', ''],
    ['date', {}, ' 2026-01-01', ''],
    ['date', {}, '2026-01-01\n', ''],
    ['date', {}, '2026-01-01T00:00:00Z', ''],
    ['date', {}, '', ''],
    ['date', {}, 20_260_101, ''],
    ['time', {}, '24:00', ''],
    ['time', {}, '23:60', ''],
    ['time', {}, '23:59:60', ''],
    ['time', {}, '9:30', ''],
    ['time', {}, '09:30:00.5', ''],
    ['time', {}, '09:30Z', ''],
    ['time', {}, '', ''],
    ['datetime', {}, '2026-11-20T09:30:00', ''],
    ['datetime', {}, '2026-11-20 09:30:00Z', ''],
    ['datetime', {}, '2026-11-20', ''],
    ['datetime', {}, '2026-02-30T00:00:00Z', ''],
    ['datetime', {}, '2026-11-20T24:00:00Z', ''],
    ['datetime', {}, '2026-11-20T09:30:00+24:00', ''],
    ['datetime', {}, '2026-11-20T09:30:00+0100', ''],
    // In UTC this is in the year 10000.
    ['datetime', {}, '9999-12-31T23:30:00-01:00', ''],
    ['datetime', {}, '0001-01-01T00:30:00+01:00', ''],
    ['datetime', {}, 1_763_630_000, ''],
    ['monetary', {}, 5, ''],
    ['monetary', {}, null, ''],
    ['monetary', {}, [5, 'EUR'], ''],
    ['monetary', {}, {}, 'amount'],
    ['monetary', {}, { amount: '5', currency: 'EUR' }, 'amount'],
    ['monetary', {}, { amount: 5 }, 'currency'],
    ['monetary', {}, { amount: 5, currency: 'eur' }, 'currency'],
    ['monetary', {}, { amount: 5, currency: 'EURO' }, 'currency'],
    ['monetary', {}, { amount: 5, currency: 'ЕUR' }, 'currency'],
    ['monetary', {}, { amount: 5, currency: 'EUR', note: '' }, 'note'],
    ['monetary', {}, JSON.parse('{"amount":5,"currency":"EUR","__proto__":{}}'), '__proto__'],
    ['monetary', { currency: 'EUR' }, { amount: 5, currency: 'USD' }, 'currency'],
    ['monetary', { currencies: ['EUR', 'USD'] }, { amount: 5, currency: 'GBP' }, 'currency'],
    ['monetary', { min: 0 }, { amount: -1, currency: 'EUR' }, 'amount'],
    ['monetary', { max: 10 }, { amount: 11, currency: 'EUR' }, 'amount'],
    ['monetary', { precision: 2 }, { amount: 1.005, currency: 'EUR' }, 'amount'],
    ['select', { options: ['eu'] }, 'us', ''],
    ['select', { options: ['eu'] }, 'EU', ''],
    ['select', { options: ['eu'] }, '', ''],
    ['select', { options: ['eu'] }, ['eu'], ''],
    ['select', { options: ['eu'], allow_custom: false }, 'us', ''],
    ['select', { allow_custom: true }, 5, ''],
    // The label is for people.
    ['select', { options: [{ value: 'eu', label: 'Europe' }] }, 'Europe', ''],
    ['multi_select', { options: ['eu', 'us'] }, 'eu', ''],
    ['multi_select', { options: ['eu', 'us'] }, ['eu', 'ap'], '1'],
    ['multi_select', { options: ['eu', 'us'] }, ['eu', 'us', 'eu'], '2'],
    ['multi_select', { allow_custom: true }, ['a', 5], '1'],
    ['multi_select', { allow_custom: true }, [null], '0'],
    ['multi_select', { allow_custom: true }, ['a', 'a'], '1'],
  ])('%s %j rejects %j at %j', (type, config, value, path) => {
    expect(violationPath(type, config, value)).toBe(path);
  });

  test('the message says what the type expects, and an unknown member is unknown_field', () => {
    expect(findValueViolation({ field_type: 'number', config: { precision: 2 } }, 0.001)).toEqual({
      code: 'invalid_request',
      path: '',
      message: 'Must have at most 2 decimals',
    });
    expect(findValueViolation({ field_type: 'monetary' }, { amount: 1, currency: 'EUR', rate: 1 })).toMatchObject({
      code: 'unknown_field',
      path: 'rate',
    });
  });

  test('values have a maximum size', () => {
    const message = (...[field_type, value, config = {}]: [FieldType, unknown, FieldConfig?]) =>
      findValueViolation({ field_type, config }, value)?.message ?? 'accepted';
    const texts = (count: number) => Array.from({ length: count }, (_, index) => `option ${index}`);
    expect(message('string', '😀'.repeat(10_000))).toBe('accepted');
    expect(message('string', 'a'.repeat(10_001))).toBe('Must be at most 10000 characters');
    expect(message('string', 'a'.repeat(10_001), { max_length: 20_000 })).toBe('Must be at most 10000 characters');
    expect(message('string', 'aaa', { max_length: 2 })).toBe('Must be at most 2 characters');
    expect(message('select', 'a'.repeat(10_001), { allow_custom: true })).toBe('Must be at most 10000 characters');
    expect(message('multi_select', texts(1_000), { allow_custom: true })).toBe('accepted');
    expect(message('multi_select', texts(1_001), { allow_custom: true })).toBe('Must have at most 1000 items');
    expect(message('datetime', `2026-11-20T09:30:00.${'0'.repeat(43)}Z`)).toBe('accepted');
    expect(message('datetime', `2026-11-20T09:30:00.${'0'.repeat(44)}Z`)).toBe('Must be at most 64 characters');
    // Two quotes and two bytes for each letter.
    expect(message('json', 'é'.repeat(32_767))).toBe('accepted');
    expect(message('json', 'é'.repeat(32_768))).toBe('Must be at most 65536 bytes of compact JSON');
  });

  test('a choice of an option that was stored before the limit is accepted', () => {
    const long = 'a'.repeat(20_000);
    expect(violationPath('select', { options: [long] }, long)).toBe('accepted');
  });
});

describe('the config of a type', () => {
  const EXAMPLES: Required<FieldConfig> = {
    max_length: 5,
    min: 1,
    max: 2,
    precision: 2,
    currency: 'EUR',
    currencies: ['EUR'],
    options: ['a'],
    allow_custom: true,
  };
  const ALLOWED: Record<FieldType, (keyof FieldConfig)[]> = {
    string: ['max_length'],
    number: ['min', 'max', 'precision'],
    boolean: [],
    date: [],
    time: [],
    datetime: [],
    monetary: ['min', 'max', 'precision', 'currency', 'currencies'],
    json: [],
    select: ['options', 'allow_custom'],
    multi_select: ['options', 'allow_custom'],
  };

  test.each(
    FIELD_TYPES.flatMap((type) => Object.keys(EXAMPLES).map((key) => [type, key as keyof FieldConfig] as const)),
  )('%s and %s', (type, key) => {
    // A select needs options; with options present, only the key under test is checked.
    const base = type.endsWith('select') ? { options: ['a'] } : {};
    const found = findConfigViolation(type, { ...base, [key]: EXAMPLES[key] });
    if (ALLOWED[type].includes(key)) expect(found).toBeUndefined();
    else expect(found).toMatchObject({ code: 'unknown_field', path: key });
  });

  test.each<[FieldType, FieldConfig, string]>([
    ['number', { min: 2, max: 1 }, 'max'],
    ['monetary', { min: 0, max: -1 }, 'max'],
    ['monetary', { currency: 'EUR', currencies: ['EUR'] }, 'currencies'],
    ['monetary', { currencies: ['EUR', 'USD', 'EUR'] }, 'currencies.2'],
    ['select', {}, 'options'],
    ['select', { allow_custom: false }, 'options'],
    ['multi_select', {}, 'options'],
    ['select', { options: ['a', 'b', 'a'] }, 'options.2'],
    ['select', { options: ['a', { value: 'a', label: 'A' }] }, 'options.1'],
    ['multi_select', { options: ['a', 'a'], allow_custom: true }, 'options.1'],
  ])('%s rejects %j at %s', (type, config, path) => {
    expect(findConfigViolation(type, config)).toMatchObject({ code: 'invalid_request', path });
  });

  test.each<[FieldType, FieldConfig | undefined]>([
    ['string', undefined],
    ['string', {}],
    ['number', { min: 1, max: 1 }],
    ['select', { allow_custom: true }],
    ['multi_select', { allow_custom: true, options: ['a', { value: 'b', color: '#fff' }] }],
  ])('%s accepts %j', (type, config) => {
    expect(findConfigViolation(type, config)).toBeUndefined();
  });

  test('a select without a config has no options', () => {
    expect(findConfigViolation('select', undefined)).toMatchObject({ path: 'options' });
  });

  test.each([
    [{ max_length: 0 }, 'max_length'],
    [{ max_length: 1.5 }, 'max_length'],
    [{ max_length: '5' }, 'max_length'],
    [{ max_length: null }, 'max_length'],
    [{ min: '0' }, 'min'],
    [{ max: Infinity }, 'max'],
    [{ precision: -1 }, 'precision'],
    [{ precision: 11 }, 'precision'],
    [{ precision: 0.5 }, 'precision'],
    [{ currency: 'eur' }, 'currency'],
    [{ currency: '' }, 'currency'],
    [{ currencies: [] }, 'currencies'],
    [{ currencies: ['EUR', 'x'] }, 'currencies.1'],
    [{ currencies: 'EUR' }, 'currencies'],
    [{ options: [] }, 'options'],
    [{ options: ['a', 5] }, 'options.1'],
    [{ options: [{ label: 'A' }] }, 'options.0'],
    [{ options: [{ value: 'a', rank: 1 }] }, 'options.0'],
    [{ options: {} }, 'options'],
    [{ allow_custom: 'yes' }, 'allow_custom'],
    [{ pattern: 'a' }, ''],
    [null, ''],
    [[], ''],
    ['{}', ''],
  ])('%j is malformed at %j', (config, path) => {
    expect(fieldConfig.safeParse(config).error?.issues[0]?.path.join('.')).toBe(path);
  });

  test('options keep their order, as strings and as objects', () => {
    expect(optionValues({ options: ['b', { value: 'a', label: 'A' }] })).toEqual(['b', 'a']);
  });
});

describe('properties', () => {
  const anyType = fc.constantFrom(...FIELD_TYPES);

  test('any JSON value is checked without an exception', () => {
    fc.assert(
      fc.property(anyType, fc.jsonValue(), (field_type, value) => {
        const found = findValueViolation({ field_type, config: {} }, value);
        if (found !== undefined) expect(found.message).not.toBe('');
      }),
    );
  });

  test('a number with n decimals passes a precision of n and no lower one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -99_999, max: 99_999 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 10 }),
        (whole, lastDigit, places) => {
          const value = Number(`${whole}.${'0'.repeat(places - 1)}${lastDigit}`);
          expect(violationPath('number', { precision: places }, value)).toBe('accepted');
          expect(violationPath('number', { precision: places - 1 }, value)).toBe('');
        },
      ),
    );
  });

  test('a length is counted in code points', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), { minLength: 1, maxLength: 20 }),
        (points) => {
          expect(violationPath('string', { max_length: points.length }, points.join(''))).toBe('accepted');
          if (points.length > 1)
            expect(violationPath('string', { max_length: points.length - 1 }, points.join(''))).toBe('');
        },
      ),
    );
  });

  test('every day of the calendar is a date, and nothing else is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 31 }),
        (year, month, day) => {
          const value = [
            String(year).padStart(4, '0'),
            ...[month, day].map((part) => String(part).padStart(2, '0')),
          ].join('-');
          const moment = new Date(`${value}T00:00:00Z`);
          const exists = !Number.isNaN(moment.getTime()) && moment.getUTCDate() === day;
          expect(violationPath('date', {}, value)).toBe(exists ? 'accepted' : '');
        },
      ),
    );
  });
});
