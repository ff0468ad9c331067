import { describe, expect, test } from '@jest/globals';
import { type FilterParameters, isLegacyCompatible, listFilters } from '../src/list/domain/list-filters.ts';
import { listSort } from '../src/list/domain/list-sort.ts';

const filters = (query: FilterParameters) => listFilters(query, 'USD');

describe('filters', () => {
  test.each<[FilterParameters, FilterParameters]>([
    [{}, { scope: 'all', status_scope: 'all', active_only: false, unassigned_team: false, mine: false }],
    [{}, { mrr_basis: 'normalized', mrr_currency: 'USD' }],
    [{ status: ['open', 'active'] }, { status: ['active', 'open', 'active'] }],
    [{ team_id: [2, 10] }, { team_id: [10, 2, 2] }],
    [{ region: ['EU', 'ÄRA'] }, { region: ['ära', ' eu '] }],
    [{ service: ['a\u0308'] }, { service: ['ä'] }],
    [{ created_to: '2026-11-20T09:00:00Z' }, { created_to: '2026-11-20T10:00:00.0004+01:00' }],
    [{ created_from: '2026-11-20T09:00:00.001Z' }, { created_from: '2026-11-20T10:00:00.0004+01:00' }],
    [
      { mrr_op: '<', mrr_value: 1 },
      { mrr_op: '<', mrr_value: 1, mrr_currency: 'USD', mrr_basis: 'normalized' },
    ],
  ])('of %j equal those of %j', (one, other) => {
    expect(filters(one)).toEqual(filters(other));
  });

  test.each<[FilterParameters, FilterParameters]>([
    [
      { mrr_op: '<', mrr_value: 1 },
      { mrr_op: '<', mrr_value: 1, mrr_currency: 'USD', mrr_basis: 'source' },
    ],
    [{ service: ['a'] }, { service: ['A'] }],
    [{ created_to: '2026-11-20T09:00:00Z' }, { created_before: '2026-11-20T09:00:00Z' }],
    [{ lifecycle: ['postmortem'] }, { scope: 'postmortem' }],
  ])('of %j differ from those of %j', (one, other) => {
    expect(filters(one)).not.toEqual(filters(other));
  });

  test('that existed with the old cursors are distinguished from later ones', () => {
    const old: FilterParameters = {
      scope: 'postmortem',
      status: ['open'],
      severity: ['sev1'],
      service: ['a'],
      team_id: [1],
      created_from: '2026-11-20T09:00:00Z',
      created_to: '2026-11-20T09:00:00Z',
    };
    expect(isLegacyCompatible(filters(old))).toBe(true);
    expect(isLegacyCompatible(filters({ ...old, active_only: true }))).toBe(false);
    expect(isLegacyCompatible(filters({ ...old, region: ['eu'] }))).toBe(false);
  });
});

describe('the sort', () => {
  test('is by creation, newest first, by default', () => {
    expect(listSort({})).toEqual({ key: 'created_at', direction: 'desc', field: null });
  });
});
