import { describe, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import {
  channelName,
  findTemplateViolation,
  isChannelName,
  PLACEHOLDERS,
  slugify,
} from '../../src/chat/domain/channel-name.ts';

const incident = {
  number: 12,
  shortTitle: 'db-down',
  createdAt: '2026-11-20T23:59:59.999Z',
  severity: 'sev1',
  service: 'checkout_api',
};

const inUtc = (template: string) => ({ template, timeZone: 'UTC' });

describe("a channel's name", () => {
  test.each([
    ['inc-{id}-{short_title}', {}, 'inc-12-db-down'],
    ['inc-{id}-{short_title}', { shortTitle: '' }, 'inc-12'],
    ['{short_title}-inc-{id}', { shortTitle: '' }, 'inc-12'],
    ['inc_{service}_{id}', { service: '' }, 'inc_12'],
    ['{date}-{severity}-{service}-{id}', {}, '2026-11-20-sev1-checkout_api-12'],
    ['INC {id}: {short_title}!', {}, 'inc-12-db-down'],
    ['Störung-Straße-Ærø-œ-đ-ð-þ-Łódź-ı-{id}', {}, 'storung-strasse-aero-oe-d-d-th-lodz-i-12'],
    ['inc-{id}-{service}', { service: 'ärger_im_büro' }, 'inc-12-arger_im_buro'],
    ['inc-{id}-{service}', { service: '決済' }, 'inc-12-決済'],
    ['инцидент-{id}-{short_title}', { shortTitle: 'Платежи' }, 'инцидент-12-платежи'],
    ['{id}--{service}__x', { service: '!!' }, '12-x'],
    ['--inc---{id}--', {}, 'inc-12'],
    ['{id}', {}, '12'],
  ])('of %j with %j is %j', (template, parts, name) => {
    expect(channelName(inUtc(template), { ...incident, ...parts })).toBe(name);
  });

  test('counts characters, whatever their script, and shortens what can be long', () => {
    const parts = { service: '\u{20000}'.repeat(128), shortTitle: 'ﷺ'.repeat(12) };
    const name = channelName(inUtc('{service}-{short_title}-inc-{id}'), { ...incident, ...parts });
    expect([...name]).toHaveLength(80);
    expect(name).toMatch(/^صلى-.*-inc-12$/);
    expect(channelName(inUtc('inc-{id}-{service}'), { ...incident, ...parts })).toBe(
      `inc-12-${'\u{20000}'.repeat(73)}`,
    );
  });

  test.each([
    ['UTC', '2026-11-20'],
    ['Europe/Berlin', '2026-11-21'],
    ['America/Los_Angeles', '2026-11-20'],
  ])('has the date of the time zone %s', (timeZone, date) => {
    expect(channelName({ template: '{date}', timeZone }, incident)).toBe(date);
  });

  test('keeps its number when a long service is shortened', () => {
    const name = channelName(inUtc('inc-{service}-{id}'), { ...incident, service: 'a'.repeat(128) });
    expect(name).toBe(`inc-${'a'.repeat(73)}-12`);
    expect(name).toHaveLength(80);
  });

  test('is valid in the chat for any incident', () => {
    const template = fc
      .array(fc.oneof(fc.constantFrom(...PLACEHOLDERS.map((name) => `{${name}}`), '-', '_', ' '), fc.string()))
      .map((pieces) => pieces.join(''))
      .filter((text) => findTemplateViolation(text) === undefined);
    const parts = fc.record({
      number: fc.integer({ min: 1 }),
      shortTitle: fc.string({ unit: 'binary', maxLength: 12 }),
      createdAt: fc.constant(incident.createdAt),
      severity: fc.string(),
      service: fc.string({ unit: 'binary', maxLength: 128 }),
    });
    fc.assert(
      fc.property(template, parts, (text, values) => {
        const name = channelName(inUtc(text), values);
        expect(isChannelName(name)).toBe(true);
        expect(slugify(name)).toBe(name);
        expect(name).not.toMatch(/--|__|^[-_]|[-_]$/);
      }),
    );
  });
});

test.each([
  ['{nope}', '{nope} is not one of'],
  ['inc-{id', 'unmatched brace'],
  ['inc-id}', 'unmatched brace'],
  ['{short_title}-{service}', 'must contain {id}'],
  ['', 'the same name'],
  ['!!!', 'the same name'],
  ['!{service}!', 'must contain {id}'],
  ['x'.repeat(256), 'at most 255'],
  ['warroom', 'the same name'],
  [`${'x'.repeat(80)}-{id}`, 'longer than 80'],
])('the template %j is rejected', (template, violation) => {
  expect(findTemplateViolation(template)).toContain(violation);
});

test.each(['inc-{id}', '{date}', 'warroom-{severity}', '{date}-{short_title}'])(
  'the template %j is valid',
  (template) => {
    expect(findTemplateViolation(template)).toBeUndefined();
  },
);

test.each([
  ['a', true],
  ['inc-12_x', true],
  ['a'.repeat(80), true],
  ['a'.repeat(81), false],
  ['', false],
  ['Inc', false],
  ['inc 12', false],
  ['inc.12', false],
  ['straße', true],
  ['障害-12', true],
  ['сбой', true],
  ['Сбой', false],
  ['障'.repeat(81), false],
  ['\u{20000}'.repeat(80), true],
  ['ǅ', false],
  ['\u{3164}', false],
  ['a\u200db', false],
  ['🔥', false],
  ['#inc', false],
  ['-', false],
  ['__-', false],
  ['inc\n', false],
])('%j as a name becomes %j', (name, taken) => {
  expect(isChannelName(name)).toBe(taken);
});

test.each([
  ['DB down!', 'db-down'],
  ['  Zürich ', 'zurich'],
  ['a__b--c', 'a_b-c'],
  ['障害', '障害'],
  ['障害　発生!', '障害-発生'],
  ['Сбой оплаты', 'сбой-оплаты'],
  ['Йод', 'йод'],
  ['Ζημιά', 'ζημιά'],
  ['ﾃﾞｰﾀ', 'データ'],
  ['결제 장애', '결제-장애'],
  ['भुगतान', 'भुगतान'],
  ['تعطل الدفع', 'تعطل-الدفع'],
  ['٣ خدمات', '٣-خدمات'],
  ['Ə ŋ', 'ə-ŋ'],
  ['❤️ 1️⃣', '1'],
  ['\u0301a', 'a'],
  ['\u{3164}', ''],
  ['\ud800', ''],
  ['ﬁre', 'fire'],
  ['Größe Łódź', 'grosse-lodz'],
  ['a-_b', 'a-b'],
])('the short title %j becomes %j in a name', (text, slug) => {
  expect(slugify(text)).toBe(slug);
});
