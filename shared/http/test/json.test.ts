import { describe, expect, test } from '@jest/globals';
import { checkStorable, DomainError, parseJson } from '../src/index.ts';

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
