import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { containing } from '../../src/accounts/domain/contains.ts';

test('finds what includes finds', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength: 12 });
  fc.assert(
    fc.property(few, few, (text, searched) => {
      expect(containing(searched)(text)).toBe(text.includes(searched));
    }),
  );
});
