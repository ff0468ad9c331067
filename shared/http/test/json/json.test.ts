import { describe, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { checkStorable, DomainError, jsonEqual, parseJson, scanJson } from '../../src/index.ts';
import { findJsonFault } from '../../src/json/json-fault.ts';
import { MAX_COMPLEXITY } from '../../src/json/scan-json.ts';

const codeOf = (text: string | Uint8Array) => {
  try {
    parseJson(typeof text === 'string' ? Buffer.from(text) : text);
  } catch (error) {
    return (error as DomainError).code;
  }
  return 'parsed';
};

describe('one JSON document', () => {
  test.each(['{}', ' {"a":[1,"}{",{"b":"\\"]"}]}\n', '[]', '"a"', 'null', '12'])('%j parses', (text) => {
    expect(codeOf(text)).toBe('parsed');
  });

  test.each(['{}{}', '{} {}', '{}\n[1]', '"a""b"', '1 2', '{"a":"}"}{"b":"{"}', '[][][]', 'null true'])(
    '%j is several documents',
    (text) => expect(codeOf(text)).toBe('multiple_json_values'),
  );

  test.each([
    '',
    '  ',
    '{',
    '{}x',
    '{}{',
    '{"a":1,}',
    "{'a':1}",
    '\uFEFF{}',
    'truefalse',
    '{"a":01}',
    '"\\x"',
    '[1]]',
    '{},{}',
  ])('%j is not JSON', (text) => expect(codeOf(text)).toBe('invalid_json'));

  test('invalid UTF-8 is not JSON', () => {
    expect(codeOf(Uint8Array.from([0x22, 0xff, 0x22]))).toBe('invalid_json');
  });
});

const errorOf = (run: () => unknown): DomainError | undefined => {
  try {
    run();
  } catch (error) {
    return error as DomainError;
  }
  return undefined;
};

describe('the place of a fault', () => {
  test.each<[string, number, number]>([
    ['{"a":1,}', 1, 8],
    ['{\n  "a": 1,\n  "b": nul\n}', 3, 11],
    ['{\r\n"a" 1}', 2, 5],
    ['{"😀é": x}', 1, 8],
    ['{"a":1', 1, 7],
    ['{"a":"\t"}', 1, 7],
    ['["\\q"]', 1, 4],
    ['[01]', 1, 3],
    ['{}x', 1, 3],
    ['{}\n{', 2, 1],
    ['[1]]', 1, 4],
  ])('%j is at line %i, column %i', (text, line, column) => {
    const error = errorOf(() => parseJson(Buffer.from(text)));
    expect(error).toMatchObject({ code: 'invalid_json', details: { line, column } });
    expect(error?.message).toBe(`The body is not valid JSON at line ${line}, column ${column}`);
  });

  test('of invalid UTF-8 is the first byte that belongs to no character', () => {
    const place = (...bytes: number[]) => errorOf(() => parseJson(Uint8Array.from(bytes)));
    const [quote, feed] = [0x22, 0x0a];
    expect(place(quote, 0xff, quote)).toMatchObject({
      message: 'The body is not valid UTF-8 at line 1, column 2',
      details: { line: 1, column: 2 },
    });
    // A whole character of two bytes before one that is cut short.
    expect(place(feed, quote, 0xc3, 0xa9, 0xc3, quote)).toMatchObject({ details: { line: 2, column: 3 } });
    // Cut short after two bytes that the replacement character begins with, too.
    expect(place(quote, 0xef, 0xbf, quote)).toMatchObject({ details: { line: 1, column: 2 } });
    expect(place(quote, 0xef, 0xbf, 0xbd, 0x80)).toMatchObject({ details: { line: 1, column: 3 } });
  });

  test('of a body with a byte order mark is the mark, which the message names', () => {
    const marked = (bytes: Buffer) => errorOf(() => parseJson(bytes));
    const utf16 = Buffer.from('\uFEFF{}', 'utf16le');
    expect(marked(Buffer.from('\uFEFF{}'))).toMatchObject({
      code: 'invalid_json',
      message: 'The body is not valid JSON: it begins with a byte order mark, U+FEFF, at line 1, column 1',
      details: { line: 1, column: 1 },
    });
    for (const bytes of [utf16, Buffer.from(utf16).swap16()]) {
      expect(marked(bytes)).toMatchObject({
        code: 'invalid_json',
        message: 'The body is not valid UTF-8: it begins with the byte order mark of UTF-16, at line 1, column 1',
        details: { line: 1, column: 1 },
      });
    }
  });

  test('of an empty body is its beginning', () => {
    expect(errorOf(() => parseJson(Buffer.from('')))).toMatchObject({
      message: 'The body is empty',
      details: { line: 1, column: 1 },
    });
  });

  const TOKENS = [
    ...Array.from('{}[],: \n\t"x-+\\'),
    '"a"',
    '"\\u00e9"',
    '"\\u00e',
    '1',
    '-0',
    '0.5e3',
    '01',
    '1.',
    '1e',
    'true',
    'nul',
  ];
  const pieces = fc.array(fc.constantFrom(...TOKENS), { maxLength: 8 }).map((tokens) => tokens.join(''));

  test('is where JSON.parse says, if it says where', () => {
    let compared = 0;
    fc.assert(
      fc.property(pieces, (text) => {
        const message = String(errorOf(() => JSON.parse(text))?.message);
        const position = /position (\d+)/.exec(message)?.[1];
        const fault = findJsonFault(text);
        if (position === undefined || fault.kind === 'several') return;
        expect(fault.index).toBe(Number(position));
        compared += 1;
      }),
      { numRuns: 5_000 },
    );
    expect(compared).toBeGreaterThan(500);
  });

  test('is the end of the text for a document that is cut short, and for none that is whole', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, cut) => {
        expect(findJsonFault(text)).toEqual({ kind: 'malformed', index: text.length });
        const shorter = text.slice(0, cut % text.length);
        if (codeOf(shorter) === 'invalid_json')
          expect(findJsonFault(shorter)).toEqual({ kind: 'malformed', index: shorter.length });
      }),
    );
  });
});

describe('the complexity of a document', () => {
  const items = (count: number, item: string) => Array.from({ length: count }, () => item).join(',');
  const refusal = (text: string) => errorOf(() => parseJson(Buffer.from(text)));

  test.each<[string, string]>([
    ['four JSON values of 64 KiB of numbers', `{"values":[${items(4, `[${items(32_768, '0')}]`)}]}`],
    [
      'a JSON value of 64 KiB of names',
      `{"value":{${Array.from({ length: 9_300 }, (__, index) => `"${index.toString(36)}":0`).join(',')}}}`,
    ],
    ['a JSON value of 64 KiB of containers', `{"value":[${items(21_800, '[]')}]}`],
    ['a text of a megabyte', `{"body":"${'[{,:'.repeat(250_000)}"}`],
    ['a text of escapes', `{"body":"${'\\u3042\\n\\"'.repeat(100_000)}"}`],
  ])('of %s is accepted', (_, text) => expect(refusal(text)).toBeUndefined());

  test.each<[string, string, string | undefined]>([
    ['numbers', `{"title":"x","regions":[${items(150_001, '0')}]}`, 'regions'],
    ['names', `{"title":"x","value":[${items(15_000, '{"a":0}')}]}`, 'value'],
    ['texts', `{"a":{"b":1},"tags" : [${items(37_501, '""')}]}`, 'tags'],
    ['arrays', `{"é\\u00e9":${'['.repeat(50_001)}`, 'éé'],
    ['unknown properties', `{${Array.from({ length: 90_000 }, (__, index) => `"k${index}":0`).join(',')}}`, 'k13635'],
    ['numbers without an object', `[${items(200_000, '0')}]`, undefined],
  ])('of too many %s is refused before it is parsed', (_, text, field) => {
    expect(refusal(text)).toMatchObject({
      code: 'invalid_request',
      field,
      message: expect.stringMatching(/^Must have fewer values/),
    });
  });

  test('has a lower maximum for some documents', () => {
    const text = Buffer.from(`{"a":[${items(50, '1')}]}`);
    expect(errorOf(() => scanJson(text, 66))).toBeUndefined();
    expect(errorOf(() => scanJson(text, 65))).toMatchObject({ field: 'a' });
  });

  test('is known after one pass over any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('{}[],:"\\a1 ')) }), (part) => {
        const text = part.repeat(Math.ceil(MAX_COMPLEXITY / Math.max(part.length, 1)));
        const code = errorOf(() => parseJson(Buffer.from(text)))?.code ?? 'parsed';
        expect(code).toMatch(/^(invalid_json|invalid_request|multiple_json_values|parsed)$/);
      }),
      { numRuns: 30 },
    );
  });
});

test('JSON values are equal whatever the order of their members', () => {
  expect(jsonEqual({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBe(true);
  expect(jsonEqual(-0, 0)).toBe(true);
  const different: [unknown, unknown][] = [
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, { b: undefined }],
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [{ 0: 1 }, [1]],
    [null, {}],
    ['1', 1],
    [{ constructor: 1 }, {}],
  ];
  for (const [a, b] of different) expect([jsonEqual(a, b), jsonEqual(b, a)]).toEqual([false, false]);
});

describe('a value that cannot be stored', () => {
  const fieldOf = (value: unknown) => {
    try {
      checkStorable(value);
    } catch (error) {
      return (error as DomainError).field;
    }
    return undefined;
  };

  test.each([
    [{ title: 'a\0b' }, 'title'],
    [{ tags: ['ok', '\uD800'] }, 'tags.1'],
    [{ a: { b: [0, { c: 9007199254740992 }] } }, 'a.b.1.c'],
    [{ a: -1e300 }, 'a'],
    [{ a: { 'x\0': 1 } }, 'a.x\uFFFD'],
  ])('%j is rejected with its path', (value, field) => expect(fieldOf(value)).toBe(field));

  test.each([
    [{ n: 9007199254740991, s: '😀', list: [0.1, -0, null, true], __proto__: null }],
    [JSON.parse('{"__proto__":"x"}')],
  ])('%j is accepted', (value) => expect(fieldOf(value)).toBeUndefined());

  test('nesting is limited and checked without recursion', () => {
    const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    expect(fieldOf({ a: nested(99) })).toBeUndefined();
    expect(fieldOf({ a: nested(100_000) })).toMatch(/^a\.0\.0/);
  });
});
