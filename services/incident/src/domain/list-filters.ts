import { ceilTimestamp, parseTimestamp } from '@tocsin/contracts';
import { invalid } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { Diagnosis } from './diagnosis.ts';
import { fold } from './fold.ts';
import type { CUSTOMER_IMPACTS } from './incident.ts';

/** `alert` is a kind that no incident has yet. */
export const LIFECYCLES = ['ticket', 'incident', 'postmortem', 'alert'] as const;
export const COMPARISONS = ['<', '>', '='] as const;

type Lifecycle = (typeof LIFECYCLES)[number];
type CustomerImpact = (typeof CUSTOMER_IMPACTS)[number];

export interface Comparison {
  operator: (typeof COMPARISONS)[number];
  value: number;
}

/** What a list is asked to filter by, by the names on the wire; each parameter is well-formed already. */
export interface ListQuery {
  scope?: 'all' | 'postmortem' | undefined;
  status?: readonly string[] | undefined;
  severity?: readonly string[] | undefined;
  service?: readonly string[] | undefined;
  team_id?: readonly number[] | undefined;
  created_from?: string | undefined;
  created_to?: string | undefined;
  created_before?: string | undefined;
  region?: readonly string[] | undefined;
  lifecycle?: readonly Lifecycle[] | undefined;
  service_tier?: readonly string[] | undefined;
  effective_team_id?: readonly number[] | undefined;
  unassigned_team?: boolean | undefined;
  mine?: boolean | undefined;
  active_only?: boolean | undefined;
  status_scope?: string | undefined;
  diagnosis?: readonly Diagnosis[] | undefined;
  impact_status?: readonly CustomerImpact[] | undefined;
  affected_customers_op?: Comparison['operator'] | undefined;
  affected_customers_value?: number | undefined;
  mrr_op?: Comparison['operator'] | undefined;
  mrr_value?: number | undefined;
  mrr_currency?: string | undefined;
  mrr_basis?: 'normalized' | 'source' | undefined;
}

/**
 * The same in the one form that all spellings of a question have: lists sorted and without duplicates, text folded, times
 * in UTC, defaults spelled out. Cursors belong to it. Of a list any may match, and an empty one asks for nothing.
 */
export interface ListFilters {
  postmortemsOnly: boolean;
  lifecycles: readonly Lifecycle[];
  statuses: readonly string[];
  /** `nonterminal` or a status; null: all. */
  statusScope: string | null;
  activeOnly: boolean;
  severities: readonly string[];
  services: readonly string[];
  serviceTiers: readonly string[];
  teams: readonly number[];
  effectiveTeams: readonly number[];
  unassignedTeam: boolean;
  regions: readonly string[];
  diagnoses: readonly Diagnosis[];
  customerImpacts: readonly CustomerImpact[];
  affectedCustomers: Comparison | null;
  /** Minor units of `currency`; null: of the workspace's reporting currency, into which all amounts are converted. */
  mrr: (Comparison & { currency: string | null }) | null;
  /** Inclusive. */
  createdFrom: Instant | null;
  /** Inclusive. */
  createdTo: Instant | null;
  /** Exclusive. */
  createdBefore: Instant | null;
}

/** @throws DomainError `invalid_request` for parameters that do not go together, or lack one another */
export function listFilters(query: ListQuery, reportingCurrency: string): ListFilters {
  if (query.mine === true) throw invalid('mine', 'An API key has no incidents of its own');
  if (query.created_before !== undefined && query.created_to !== undefined) {
    throw invalid('created_before', 'Cannot be combined with created_to');
  }
  return {
    postmortemsOnly: query.scope === 'postmortem',
    lifecycles: canonical(query.lifecycle),
    statuses: canonical(query.status),
    statusScope: query.status_scope === undefined || query.status_scope === 'all' ? null : query.status_scope,
    activeOnly: query.active_only === true,
    severities: canonical(query.severity),
    services: canonical(query.service?.map((service) => service.normalize('NFC'))),
    serviceTiers: canonical(query.service_tier),
    teams: canonical(query.team_id),
    effectiveTeams: canonical(query.effective_team_id),
    unassignedTeam: query.unassigned_team === true,
    regions: canonical(query.region?.map((region) => fold(region.trim()))),
    diagnoses: canonical(query.diagnosis),
    customerImpacts: canonical(query.impact_status),
    affectedCustomers: comparison(query, 'affected_customers'),
    mrr: mrrComparison(query, reportingCurrency),
    createdFrom: moment(query.created_from, ceilTimestamp),
    createdTo: moment(query.created_to),
    createdBefore: moment(query.created_before, ceilTimestamp),
  };
}

/** Whether cursors of the old form, which know nothing of filters, may be used with these. */
export function isLegacyCompatible(filters: ListFilters): boolean {
  const { statusScope, activeOnly, unassignedTeam, affectedCustomers, mrr, createdBefore } = filters;
  const { lifecycles, serviceTiers, effectiveTeams, regions, diagnoses, customerImpacts } = filters;
  return (
    [statusScope, affectedCustomers, mrr, createdBefore].every((filter) => filter === null) &&
    !activeOnly &&
    !unassignedTeam &&
    [lifecycles, serviceTiers, effectiveTeams, regions, diagnoses, customerImpacts].every((list) => list.length === 0)
  );
}

function mrrComparison(query: ListQuery, reportingCurrency: string): ListFilters['mrr'] {
  const { mrr_basis: basis = 'normalized', mrr_currency: currency = null } = query;
  if (basis === 'source' && currency === null) throw invalid('mrr_currency', 'mrr_basis=source takes a currency');
  if (basis === 'normalized' && currency !== null && currency !== reportingCurrency) {
    throw invalid('mrr_currency', `Normalized amounts are in ${reportingCurrency}`);
  }
  const compared = comparison(query, 'mrr');
  return compared && { ...compared, currency: basis === 'source' ? currency : null };
}

function comparison(query: ListQuery, name: 'affected_customers' | 'mrr'): Comparison | null {
  const { [`${name}_op` as const]: operator, [`${name}_value` as const]: value } = query;
  if (operator === undefined && value === undefined) return null;
  if (operator === undefined) throw invalid(`${name}_op`, `Must come with ${name}_value`);
  if (value === undefined) throw invalid(`${name}_value`, `Must come with ${name}_op`);
  return { operator, value };
}

const moment = (text: string | undefined, read = parseTimestamp): Instant | null =>
  text === undefined ? null : (read(text) ?? null);

export function canonical<Value extends string | number>(values: readonly Value[] = []): Value[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : 1));
}
