import { describe, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { alternative, isSlug, slugOf } from '../src/domain/slug.ts';

describe('the slug of a name', () => {
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
  ])('%j suggests %j', (name, slug) => expect(slugOf(name)).toBe(slug));

  test('is a slug, whatever the name, and so is every alternative of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 1_000_000 }), (name, n) => {
        const slug = slugOf(`a${name}`);
        expect(slug !== undefined && isSlug(slug) && isSlug(alternative(slug, n))).toBe(true);
      }),
    );
  });

  test('alternatives of a long one differ, and stay within its length', () => {
    const long = 'x'.repeat(64);
    const choices = Array.from({ length: 1_000 }, (_, index) => alternative(long, index + 1));
    expect(new Set(choices).size).toBe(1_000);
    expect(choices[1]).toBe(`${'x'.repeat(62)}_2`);
  });

  test.each(['a', 'a-b', 'a_1', 'a-', `a${'1'.repeat(63)}`])('%j is a slug', (slug) => expect(isSlug(slug)).toBe(true));
  test.each(['', 'A', '1a', '_a', '-a', 'a b', 'ä', 'a.b', 'a\n', `a${'1'.repeat(64)}`])('%j is none', (slug) =>
    expect(isSlug(slug)).toBe(false),
  );
});
