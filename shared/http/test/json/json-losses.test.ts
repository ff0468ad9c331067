import { describe, expect, test } from '@jest/globals';
import { decimalText, sameDecimal } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import { type DomainError, parseJson } from '../../src/index.ts';

/** The field and message of the error, or what reading the parsed document gives. */
function read(text: string): { field?: string | undefined; message?: string; json?: string } {
  try {
    return { json: JSON.stringify(parseJson(Buffer.from(text))) };
  } catch (error) {
    const { code, field, message } = error as DomainError;
    expect(code).toBe('invalid_request');
    return { field, message };
  }
}

describe('a number', () => {
  test.each([
    ['0.1', '0.1'],
    ['1.50', '1.5'],
    ['1e2', '100'],
    ['-0', '0'],
    ['-0.0E9', '0'],
    ['0e999999999999', '0'],
    ['0.29000000000000000000', '0.29'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['9007199254740991', '9007199254740991'],
    ['1E-307', '1e-307'],
    ['5e-324', '5e-324'],
    ['0.00000000000000000000012e22', '1.2'],
    ['12000000000000000000000e-22', '1.2'],
  ])('%s that JSON can write again is accepted', (text, json) => {
    expect(read(`{"a":${text}}`)).toEqual({ json: `{"a":${json}}` });
  });

  test.each([
    ['900719925474099.99', '900719925474100'],
    ['4503599627370495.37', '4503599627370495.5'],
    ['-4503599627370495.37', '-4503599627370495.5'],
    ['1E-400', '0'],
    ['4.9e-324', '5e-324'],
    ['0.289999999999999999', '0.29'],
    ['0.1000000000000000055511151231257827', '0.1'],
    ['9007199254740990.6', '9007199254740991'],
    ['1.00000000000000000000001', '1'],
    ['1e-99999999999999999999999', '0'],
  ])('%s that parsing would round is refused', (text, rounded) => {
    expect(read(`{"title":"4.9e-324","a":{"b":[1.5,{"c":${text}}]}}`)).toEqual({
      field: 'a.b.1.c',
      message: `Must be a number that can be stored exactly; this one would become ${rounded}`,
    });
  });

  test.each(['9007199254740993', '9007199254740993.5', '1e400', '-123456789012345678901234567890'])(
    '%s beyond 2^53 - 1 is refused as such',
    (text) => expect(read(`{"a":${text}}`)).toEqual({ field: 'a', message: 'Must be from -(2^53 - 1) to 2^53 - 1' }),
  );

  test('of a million digits is compared whole', () => {
    const zeros = '0'.repeat(1_000_000);
    expect(read(`[0.${zeros}1e1000001]`)).toEqual({ json: '[1]' });
    expect(read(`[0.${zeros}1]`).field).toBe('0');
    expect(read(`[1.${zeros}1]`).field).toBe('0');
  });

  test('of any decimal text is refused with its path, or keeps its value', () => {
    const seen = { refused: 0, kept: 0 };
    fc.assert(
      fc.property(decimalText, (text) => {
        const { json, field } = read(`{"a":[{},{"b":${text}}]}`);
        if (json === undefined) expect(field).toBe('a.1.b');
        else expect(sameDecimal(json.slice('{"a":[{},{"b":'.length, -'}]}'.length), text)).toBe(true);
        seen[json === undefined ? 'refused' : 'kept'] += 1;
      }),
      { numRuns: 2_000 },
    );
    // Otherwise the check above is meaningless.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(200);
  });

  test('that JavaScript writes is always accepted', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, max: 2 ** 53 - 1, min: 1 - 2 ** 53 }), (number) => {
        expect(read(JSON.stringify([number]))).toEqual({ json: JSON.stringify([number]) });
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a name that an object has twice', () => {
  test.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"":1,"b":{},"":2}', ''],
    ['{"a":[0,{"b":{"c":1,"d":[{}],"c":1}}]}', 'a.1.b.c'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a":{"__proto__":{},"__proto__":{"x":1}}}', 'a.__proto__'],
    ['{"constructor":1,"constructor":1}', 'constructor'],
    ['{"1":1,"0":1,"1":2}', '1'],
    ['{"é":1,"\\u00e9":1}', 'é'],
    ['{"a\\"\\\\":1,"a\\u0022\\u005c":1}', 'a"\\'],
    ['[{},{"a":1,"a":2}]', '1.a'],
    // The first one of several.
    ['{"a":{"x":1,"x":1},"a":0.289999999999999999}', 'a.x'],
    ['{"a":0.289999999999999999,"b":1,"b":1}', 'a'],
    ['{"a":{"\\ud800":1,"\\ud800":2},"a":1}', 'a.\uFFFD'],
  ])('%s is refused with its path', (text, field) => {
    expect(read(text).field).toBe(field);
  });

  test.each([
    '{"a":{"a":{"a":[{"a":1},{"a":1}]}},"b":{"a":1}}',
    '{"a":"a","b":"\\",\\"a\\":1","A":":"}',
    '{"__proto__":{"a":1},"a":1}',
    '[]',
    '"a:b"',
  ])('is not in %s', (text) => expect(read(text)).toEqual({ json: JSON.stringify(JSON.parse(text)) }));

  test('is refused, however deep what parsing drops is nested', () => {
    expect(read(`{"a":${'['.repeat(40_000)}${']'.repeat(40_000)},"a":1}`).field).toBe('a');
  });

  test('is found among all that a body can have', () => {
    const names = Array.from({ length: 13_000 }, (_, index) => `"k${index}":0`);
    expect(read(`{"value":{${names.join(',')}}}`).json).toHaveLength(`{"value":{${names.join(',')}}}`.length);
    expect(read(`{"value":{${names.join(',')},"\\u006b1234":0}}`).field).toBe('value.k1234');
  });

  test('is found in any document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.integer(), { minKeys: 1 }), (before, members) => {
        const [name] = Object.keys(members) as [string];
        const object = `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(name)}:0}`;
        const { field, json } = read(`[${JSON.stringify(before)},${object}]`);
        expect(json).toBeUndefined();
        if (field?.startsWith('1.') === true) expect(field).toBe(`1.${name.replaceAll('\0', '\uFFFD').toWellFormed()}`);
      }),
    );
  });
});
