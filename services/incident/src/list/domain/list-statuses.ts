import { invalidRequest } from '@tocsin/http';
import type { Configuration, Severity, WorkflowStatus } from '../../configuration/domain/configuration.ts';
import type { ListFilters } from './list-filters.ts';

const NONTERMINAL = 'nonterminal';

/**
 * The statuses that pass all filters by status, in workflow order.
 * @returns null if there is no filter by status
 * @throws DomainError `invalid_request` naming the parameter with a status that the workspace does not have
 */
export function passingStatuses(
  { statuses, statusScope, activeOnly }: ListFilters,
  configured: readonly WorkflowStatus[],
): string[] | null {
  checkConfigured('status', statuses, configured);
  if (statusScope !== null && statusScope !== NONTERMINAL) checkConfigured('status_scope', [statusScope], configured);
  if (statuses.length === 0 && statusScope === null && !activeOnly) return null;
  return configured
    .filter(({ key }) => statuses.length === 0 || statuses.includes(key))
    .filter(({ isTerminal }) => !(isTerminal && (activeOnly || statusScope === NONTERMINAL)))
    .filter(({ key }) => statusScope === null || statusScope === NONTERMINAL || key === statusScope)
    .map(({ key }) => key);
}

/** @throws DomainError `invalid_request` for a severity that the workspace does not have */
export function checkSeverities({ severities }: ListFilters, configured: readonly Severity[]): void {
  checkConfigured('severity', severities, configured);
}

/** @throws DomainError `invalid_request` for a tier that the workspace does not have */
export function checkTiers({ serviceTiers }: ListFilters, configured: readonly { key: string }[]): void {
  checkConfigured('service_tier', serviceTiers, configured);
}

function checkConfigured(parameter: string, keys: readonly string[], configured: readonly { key: string }[]): void {
  const unknown = keys.find((requested) => configured.every(({ key }) => key !== requested));
  if (unknown !== undefined) {
    throw invalidRequest(parameter, `Must be one of ${configured.map(({ key }) => key).join(', ')}`);
  }
}

/** How many incidents of a list have each status. */
export interface StatusCounts {
  /** Incidents that pass all filters. */
  matched: number;
  /** Incidents that pass all filters except those by status; the same applies to `ongoing` and `byStatus`. */
  all: number;
  /** Those whose status is not terminal. */
  ongoing: number;
  /** Has every configured status, also those with 0 incidents. */
  byStatus: Record<string, number>;
}

/**
 * @param counted how many incidents of each status pass all filters except those by status
 * @param passing the statuses that pass the filters by status; null: all statuses
 */
export function statusCounts(options: {
  counted: ReadonlyMap<string, number>;
  passing: readonly string[] | null;
  configured: Configuration['statuses'];
}): StatusCounts {
  const { counted, passing, configured } = options;
  const of = (keys: Iterable<string>) => [...keys].reduce((sum, key) => sum + (counted.get(key) ?? 0), 0);
  const all = of(counted.keys());
  return {
    matched: passing === null ? all : of(passing),
    all,
    ongoing: of(configured.filter(({ isTerminal }) => !isTerminal).map(({ key }) => key)),
    // Not by assignment: the key of a status may be `__proto__`.
    byStatus: Object.fromEntries(configured.map(({ key }) => [key, counted.get(key) ?? 0])),
  };
}
