import type { Cost } from '@tocsin/http';
import { ownProperty } from '@tocsin/runtime';

/** A request for a path that is no operation is cheap. */
const DEFAULT_COST: Cost = { base: 1 };

/**
 * Returns what a request counts toward its workspace's limit of cost (contract: Limits).
 * @param search the query, with its question mark, or empty
 */
export function costOf({ base, parameters }: Cost = DEFAULT_COST, search = ''): number {
  if (parameters === undefined || search === '') return base;
  let cost = base;
  for (const name of new URLSearchParams(search).keys()) cost += ownProperty(parameters, name) ?? 0;
  return cost;
}
