import { invalid } from '@tocsin/http';

/** What lists of incidents can be sorted by (contract: Incident lists). */
export const SORT_KEYS = [
  'created_at',
  'last_event_at',
  'severity',
  'service',
  'diagnosis',
  'case',
  'regions',
  'team',
  'impact',
  'status',
  'owner',
  'events',
  'custom',
] as const;

export type Direction = 'asc' | 'desc';

export interface ListSort {
  key: (typeof SORT_KEYS)[number];
  direction: Direction;
  /** The slug of the custom field that `custom` sorts by; null with any other key. */
  field: string | null;
}

/** @throws DomainError `invalid_request` when a custom sort and its field do not come together */
export function listSort(query: {
  sort?: ListSort['key'] | undefined;
  direction?: Direction | undefined;
  sort_custom_field?: string | undefined;
}): ListSort {
  const { sort = 'created_at', direction = 'desc', sort_custom_field = null } = query;
  if (sort === 'custom' && sort_custom_field === null) {
    throw invalid('sort_custom_field', 'Must name the custom field to sort by');
  }
  if (sort !== 'custom' && sort_custom_field !== null) {
    throw invalid('sort_custom_field', 'Takes sort=custom');
  }
  return { key: sort, direction, field: sort_custom_field };
}
