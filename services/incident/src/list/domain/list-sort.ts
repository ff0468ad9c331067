import { invalidRequest } from '@tocsin/http';

/** The sorts of lists of incidents (contract: Incident lists). */
export const SORT_KEYS = [
  'created_at',
  'last_event_at',
  'impact_started_at',
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
  /** The slug of the custom field to sort by; null unless the key is `custom`. */
  field: string | null;
}

/** The sort of a list request, by the names on the wire. */
export interface SortParameters {
  sort?: ListSort['key'] | undefined;
  direction?: Direction | undefined;
  sort_custom_field?: string | undefined;
}

/** @throws DomainError `invalid_request` for `sort=custom` without a field, or a field with another sort */
export function listSort(parameters: SortParameters): ListSort {
  const { sort = 'created_at', direction = 'desc', sort_custom_field = null } = parameters;
  if (sort === 'custom' && sort_custom_field === null) {
    throw invalidRequest('sort_custom_field', 'Is required with sort=custom');
  }
  if (sort !== 'custom' && sort_custom_field !== null) {
    throw invalidRequest('sort_custom_field', 'Is only allowed with sort=custom');
  }
  return { key: sort, direction, field: sort_custom_field };
}
