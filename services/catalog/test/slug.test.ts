import { describe, expect, test } from '@jest/globals';
import { isSlug, numberedSlug, slugFromName } from '@tocsin/versioned-resources';
import fc from '@tocsin/testing/fuzz';
import { SERVICE_SLUG } from '../src/domain/service.ts';
import { TEAM_SLUG } from '../src/domain/team.ts';

describe('a given service slug', () => {
  test.each([
    'a',
    'checkout',
    'checkout_api_2',
    'a__b_',
    'größe',
    'сервис',
    '支払い',
    'हद',
    'a٣',
    'cafe\u0301',
    'ʰa',
    `a${'b'.repeat(63)}`,
    'é'.repeat(32),
  ])('%j is valid', (slug) => expect(isSlug(slug, SERVICE_SLUG)).toBe(true));

  test.each([
    '',
    'Checkout',
    'checkOut',
    '1st',
    '_a',
    'a-b',
    'a b',
    'a.b',
    ' a',
    'a\n',
    'É',
    'ǅa',
    '\u0301a',
    'a🙂',
    'a²',
    'aⅣ',
    `a${'b'.repeat(64)}`,
    'é'.repeat(33),
    '支'.repeat(22),
  ])('%j is invalid', (slug) => expect(isSlug(slug, SERVICE_SLUG)).toBe(false));
});

describe('a given team slug', () => {
  test.each(['a', 'payments', 'team_7', 'a__', `a${'b'.repeat(63)}`])('%j is valid', (slug) =>
    expect(isSlug(slug, TEAM_SLUG)).toBe(true),
  );
  test.each(['', 'A', '7a', '_a', 'a-b', 'größe', 'сервис', 'a\n', `a${'b'.repeat(64)}`])('%j is invalid', (slug) =>
    expect(isSlug(slug, TEAM_SLUG)).toBe(false),
  );
});

describe('a slug generated from a name', () => {
  test.each([
    ['Checkout', 'checkout', 'checkout'],
    ['  Checkout & Pay — EU!  ', 'checkout_pay_eu', 'checkout_pay_eu'],
    ['a _-_ b', 'a_b', 'a_b'],
    ['3scale API', 'scale_api', 'scale_api'],
    ['Größe XL', 'größe_xl', 'gr_e_xl'],
    ['Cafe\u0301', 'café', 'caf'],
    ['СЕРВИС оплаты', 'сервис_оплаты', undefined],
    ['支払い Service', '支払い_service', 'service'],
    ['İstanbul', 'i\u0307stanbul', 'i_stanbul'],
    ['🙂🙂', undefined, undefined],
    ['42', undefined, undefined],
    ['___', undefined, undefined],
    [`${'x'.repeat(63)} yz`, 'x'.repeat(63), 'x'.repeat(63)],
    ['é'.repeat(40), 'é'.repeat(32), undefined],
  ])('%j', (name, service, team) => {
    expect(slugFromName(name, SERVICE_SLUG)).toBe(service);
    expect(slugFromName(name, TEAM_SLUG)).toBe(team);
  });

  test('further candidates end with a number and stay within the maximum length', () => {
    expect([1, 2, 13].map((n) => numberedSlug('api', n))).toEqual(['api', 'api_2', 'api_13']);
    expect(numberedSlug('x'.repeat(64), 2)).toBe(`${'x'.repeat(62)}_2`);
    expect(numberedSlug(`${'x'.repeat(61)}_yy`, 10)).toBe(`${'x'.repeat(61)}_10`);
    expect(numberedSlug('支'.repeat(21), 2)).toBe(`${'支'.repeat(20)}_2`);
  });

  test.each([
    ['service', SERVICE_SLUG],
    ['team', TEAM_SLUG],
  ])('every generated %s slug and every numbered one is valid', (_kind, rule) => {
    const names = fc.string({
      unit: fc.oneof(
        fc.constantFrom('a', 'Z', '9', '_', ' ', 'é', '支'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      maxLength: 128,
    });
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 2_000_000 }), (name, n) => {
        const slug = slugFromName(name, rule);
        if (slug === undefined) return;
        const made = numberedSlug(slug, n);
        expect(isSlug(made, rule)).toBe(true);
        expect(made).toBe(made.normalize('NFC'));
      }),
      { numRuns: 2_000 },
    );
  });
});
