import { describe, expect, test } from '@jest/globals';
import { isSlug, numberedSlug, slugFromName } from '@tocsin/versioned-resources';
import fc from '@tocsin/testing/fuzz';
import { FIELD_SLUG } from '../src/domain/field.ts';

describe('the slug generated from a name', () => {
  test.each([
    ['Root cause', 'root_cause'],
    ['  Root   cause (5 whys)! ', 'root_cause_5_whys'],
    ['Follow-up', 'follow_up'],
    ['1st responder', 'st_responder'],
    ['Größe', 'gr_e'],
    ['x'.repeat(70), 'x'.repeat(64)],
    [`${'x'.repeat(63)} y`, 'x'.repeat(63)],
    ['123', undefined],
    ['影響', undefined],
    ['!?', undefined],
  ])('of %j is %j', (name, slug) => expect(slugFromName(name, FIELD_SLUG)).toBe(slug));

  test('is valid for every name, and so is every numbered one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 1_000_000 }), (name, n) => {
        const slug = slugFromName(`a${name}`, FIELD_SLUG);
        expect(slug !== undefined && isSlug(slug, FIELD_SLUG) && isSlug(numberedSlug(slug, n), FIELD_SLUG)).toBe(true);
      }),
    );
  });

  test('numbered ones differ and stay within the maximum length', () => {
    const long = 'x'.repeat(64);
    const choices = Array.from({ length: 1_000 }, (_, index) => numberedSlug(long, index + 1));
    expect(new Set(choices).size).toBe(1_000);
    expect(choices[1]).toBe(`${'x'.repeat(62)}_2`);
  });

  test.each(['a', 'a-b', 'a_1', 'a-', `a${'1'.repeat(63)}`])('%j is valid', (slug) =>
    expect(isSlug(slug, FIELD_SLUG)).toBe(true),
  );
  test.each(['', 'A', '1a', '_a', '-a', 'a b', 'ä', 'a.b', 'a\n', `a${'1'.repeat(64)}`])('%j is invalid', (slug) =>
    expect(isSlug(slug, FIELD_SLUG)).toBe(false),
  );
});
