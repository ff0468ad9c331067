import { describe, expect, test } from '@jest/globals';
import { DEFAULT_CONFIGURATION } from '../src/configuration/domain/configuration.ts';
import { type FilterParameters, listFilters } from '../src/list/domain/list-filters.ts';
import { passingStatuses, statusCounts } from '../src/list/domain/list-statuses.ts';

const { statuses } = DEFAULT_CONFIGURATION;
const passing = (query: FilterParameters) => passingStatuses(listFilters(query, 'USD'), statuses);

describe('the statuses that pass', () => {
  test.each<[FilterParameters, string[] | null]>([
    [{}, null],
    [{ status: ['closed', 'open'] }, ['open', 'closed']],
    [{ active_only: true }, ['open', 'active', 'on-hold', 'monitoring']],
    [{ status_scope: 'nonterminal' }, ['open', 'active', 'on-hold', 'monitoring']],
    [{ status_scope: 'closed' }, ['closed']],
    [{ status_scope: 'closed', status: ['open', 'closed'] }, ['closed']],
    [{ status_scope: 'closed', active_only: true }, []],
    [{ status_scope: 'nonterminal', status: ['resolved', 'open'] }, ['open']],
  ])('of %j are %j', (query, expected) => {
    expect(passing(query)).toEqual(expected);
  });
});

describe('counts', () => {
  const counted = new Map([
    ['open', 3],
    ['closed', 2],
    ['taken-away', 1],
  ]);

  test('apply the filters by status to `matched` only', () => {
    expect(statusCounts({ counted, passing: ['closed', 'resolved'], configured: statuses })).toEqual({
      matched: 2,
      all: 6,
      ongoing: 3,
      byStatus: { open: 3, active: 0, 'on-hold': 0, monitoring: 0, resolved: 0, closed: 2 },
    });
    expect(statusCounts({ counted, passing: null, configured: statuses }).matched).toBe(6);
  });
});
