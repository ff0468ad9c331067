import { describe, expect, test } from '@jest/globals';
import { isLegacyCompatible, timelineFilters } from '../src/timeline/domain/timeline-filters.ts';

describe('equivalent queries have equal filters', () => {
  test.each([
    ['spelled-out defaults', {}, { order: 'asc', keyOnly: false, suggestions: 'include', groups: [], tags: [] }],
    ['the order of values', { tags: ['b', 'a'] }, { tags: ['a', 'b', 'a'] }],
    ['case', { tags: ['DB'], text: 'Ä', typeOrSource: 'NOTE' }, { tags: ['db'], text: 'ä', typeOrSource: 'note' }],
    ['space around a type', { typeOrSource: ' note\t' }, { typeOrSource: 'note' }],
    ['nothing to look for', {}, { text: '', typeOrSource: '  ' }],
    ['groups', { groups: ['10', 'ungrouped', '9'] }, { groups: ['9', '010', 'ungrouped', '9'] }],
  ] as const)('regardless of %s', (_what, one, other) => {
    expect(timelineFilters(one)).toEqual(timelineFilters(other));
  });
  test.each([
    ['space around a tag', { tags: ['db'] }, { tags: [' db'] }],
    ['space around a search', { text: 'db' }, { text: 'db ' }],
    ['order', {}, { order: 'desc' }],
  ] as const)('%s makes different filters', (_what, one, other) => {
    expect(timelineFilters(one)).not.toEqual(timelineFilters(other));
  });
});

test('old cursors are only compatible with time bounds and ascending order', () => {
  expect(isLegacyCompatible(timelineFilters({}))).toBe(true);
  expect(isLegacyCompatible(timelineFilters({ startedFrom: '2026-11-20T09:00:00.000Z', suggestions: 'include' }))).toBe(
    true,
  );
  for (const input of [
    { order: 'desc' },
    { typeOrSource: 'note' },
    { tags: ['db'] },
    { keyOnly: true },
    { groups: ['1'] },
    { groups: ['ungrouped'] },
    { text: 'x' },
    { suggestions: 'exclude' },
  ] as const) {
    expect(isLegacyCompatible(timelineFilters(input))).toBe(false);
  }
});
