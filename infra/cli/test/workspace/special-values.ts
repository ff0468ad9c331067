import fc from '@tocsin/testing/fuzz';

/** Keys and texts that YAML, or JavaScript, gives a meaning of its own. */
const KEYS = [
  '<<',
  '__proto__',
  'constructor',
  'yes',
  'NO',
  'null',
  '~',
  '1e3',
  '0x1F',
  '.inf',
  '2024-02-29',
  '',
  '? a',
  '&a',
  '*a',
  '!!int',
];
/** JSON that is easily lost in YAML. */
export const special = fc.oneof(
  fc.constantFrom<unknown>(
    false,
    true,
    0,
    '',
    [],
    {},
    [[]],
    [{}],
    1e21,
    5e-324,
    '12:30:00',
    'a\nb\n',
    '\n a\n\n',
    'a: b #c',
    '---',
    '%a',
  ),
  fc.constantFrom<unknown>(...KEYS),
  fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom<unknown>(...KEYS, null, {}, [], false), { maxKeys: 5 }),
);
