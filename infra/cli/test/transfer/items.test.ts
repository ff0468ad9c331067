import { expect, test } from '@jest/globals';
import { toItems } from '../../src/transfer/items.ts';
import { createMapper, finder, type Mapping } from '../../src/transfer/mapping.ts';
import { type Draft, fieldsOf } from '../../src/transfer/source.ts';
import { pagerduty } from '../../src/transfer/sources/pagerduty.ts';

const NOTHING: Mapping = { statuses: {}, severities: {}, teams: {}, services: {}, fields: {}, people: {}, others: {} };
const draft: Draft = {
  ...{ id: 'Q1', title: 'Down', status: 'acknowledged', severity: 'P1', createdAt: '2026-11-20T10:00:00Z' },
  ...{ responders: [], moments: {}, fields: {}, entries: [] },
};
const FIELDS = { score: 'number', paged: 'boolean', remark: 'string', owner: 'string', parts: 'multi_select' };

function convert(changes: Partial<Draft>, mapping: Partial<Mapping> = {}) {
  const named = (keys: readonly string[]) => finder(keys.map((key) => ({ key, label: `The ${key}`, value: key })));
  const fields = Object.entries(FIELDS).map(([slug, type]) => ({ key: slug, label: slug, value: { slug, type } }));
  const workspace = {
    ...{ statuses: named(['active', 'open']), severities: named(['sev1']), teams: named([]), services: named([]) },
    ...{ fields: finder(fields), emails: new Set<string>() },
  };
  const mapper = createMapper(pagerduty, { ...NOTHING, ...mapping }, workspace);
  const converted = toItems({ ...draft, ...changes }, { source: pagerduty, mapper });
  if (!('items' in converted)) throw new Error(converted.message);
  const open = mapper.findings().filter(({ decided }) => !decided);
  return { items: converted.items, open: open.map(({ kind, name }) => `${kind} ${name}`) };
}

test('a key is found before a label, and a label of several is none', () => {
  const find = finder([
    { key: 'active', label: 'In work', value: 1 },
    { key: 'on-hold', label: 'Active', value: 2 },
    { key: 'on_hold', label: 'In work', value: 3 },
  ]);
  expect(['active', 'Active', 'ACTIVE', 'on-hold', 'on_hold', 'In work', 'On hold', 'gone'].map(find)).toEqual([
    ...[1, 1, 1, 2, 3, undefined, undefined, undefined],
  ]);
});

test('zero, false and empty texts are values, and nothing becomes [object Object]', () => {
  const fields = { score: 0, paged: false, remark: '', owner: { team: 'a' }, parts: [{ id: 1 }, 'b'] };
  const { items, open } = convert({ fields });
  expect([items[0]?.values, open]).toEqual([{ ...fields, owner: '{"team":"a"}', parts: ['{"id":1}', 'b'] }, []]);
});

test('what a field cannot hold is a finding', () => {
  const { items, open } = convert({ fields: { score: '', paged: ' ', color: 'red', weight: 0 } });
  expect([items[0]?.values, open]).toEqual([
    {},
    ['other empty value of field score', 'other empty value of field paged', 'field color', 'field weight'],
  ]);
});

test('a field of people never takes the place of one of the source', () => {
  const own = [
    ['number', 'ours'],
    ['cause', 'x'],
    ['custom_fields.number', 'y'],
    ['__proto__', 'z'],
  ] as const;
  const fields = fieldsOf({ number: 4, urgency: undefined, teams: [] }, 'custom_fields', own);
  expect(Object.entries(fields)).toEqual([
    ['number', 4],
    ['custom_fields.number', 'ours'],
    ['cause', 'x'],
    ['custom_fields.custom_fields.number', 'y'],
    ['__proto__', 'z'],
  ]);
  // The name is taken, also by an incident that has no value for it.
  expect(fieldsOf({ urgency: undefined }, 'custom_fields', [['urgency', 'ours']])).toEqual({
    'custom_fields.urgency': 'ours',
  });
});

test('what has no place in a timeline is a finding', () => {
  const entry = { id: 'R1', type: 'note', body: 'x', at: draft.createdAt };
  const tags = Array.from({ length: 51 }, (_, index) => `tag ${index}`);
  const long = 'i'.repeat(200);
  const { items, open } = convert({
    url: 'javascript:alert(1)',
    entries: [
      { ...entry, tags },
      { ...entry, body: 'another' },
      { ...entry, id: `${long}1` },
      { ...entry, id: `${long}2` },
    ],
  });
  expect(open).toEqual([
    'other url that is no web address',
    'other entry whose ID another one has, and that differs',
    'other more than 50 tags',
  ]);
  const events = items[0]?.timeline ?? [];
  expect(new Set(events.map(({ external_id }) => external_id)).size).toBe(3);
  expect(Math.max(...events.map(({ external_id }) => external_id?.length ?? 0))).toBeLessThanOrEqual(150);
  expect(events[0]?.tags).toHaveLength(50);
});
