import type { Incident } from '@tocsin/sdk';
import { useList } from '../api/hooks.ts';
import { listRequest } from '../incidents/incident-filters.ts';

/** How many open incidents are counted. */
const MAX_COUNTED = 100;

/**
 * Counts the open incidents by what `keyOf` says of them, from one page of their list.
 * @returns the count of a key for people, `3+` if there are more incidents than are counted; undefined: not known yet
 */
export function useOpenCounts(keyOf: (incident: Incident) => unknown): (key: unknown) => string | undefined {
  const { path, parameters } = listRequest({ view: 'ongoing' });
  const { data, hasNextPage } = useList<Incident>(path, 'incidents', {
    ...parameters,
    include_counts: undefined,
    limit: MAX_COUNTED,
  });
  const byKey = data && Map.groupBy(data.rows, keyOf);
  return (key) => byKey && `${byKey.get(key)?.length ?? 0}${hasNextPage ? '+' : ''}`;
}
