import { ceilTimestamp, fold, foldedKey, parseTimestamp } from '@tocsin/schemas';
import { invalidRequest } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { CUSTOMER_IMPACTS, POSTMORTEM_STATES } from '../../incidents/domain/incident-properties.ts';

/** Issue types, and `alert`: declared by an alert, and nobody has acted since. */
export const LIFECYCLES = ['ticket', 'incident', 'postmortem', 'alert'] as const;
/** States of written post-mortems, and `none`: nobody has begun one. */
export const POSTMORTEMS = ['none', 'draft', 'in_review', 'published'] as const satisfies readonly (
  | 'none'
  | (typeof POSTMORTEM_STATES)[number]
)[];
export const COMPARISONS = ['<', '>', '='] as const;

type Lifecycle = (typeof LIFECYCLES)[number];
type Postmortem = (typeof POSTMORTEMS)[number];
type CustomerImpact = (typeof CUSTOMER_IMPACTS)[number];

export interface Comparison {
  operator: (typeof COMPARISONS)[number];
  value: number;
}

/** The bounds of a time, by their names on the wire. */
type RangeParameters<Name extends string> = Partial<Record<`${Name}_${'from' | 'to' | 'before'}`, string | undefined>>;

/** The filters of a list request, by their names on the wire. Each parameter is well-formed. */
export interface FilterParameters extends RangeParameters<'created'>, RangeParameters<'impact_started'> {
  q?: string | undefined;
  scope?: 'all' | 'postmortem' | undefined;
  status?: readonly string[] | undefined;
  severity?: readonly string[] | undefined;
  external_id?: string | undefined;
  service?: readonly string[] | undefined;
  team_id?: readonly number[] | undefined;
  region?: readonly string[] | undefined;
  role?: readonly string[] | undefined;
  lifecycle?: readonly Lifecycle[] | undefined;
  postmortem?: readonly Postmortem[] | undefined;
  service_tier?: readonly string[] | undefined;
  effective_team_id?: readonly number[] | undefined;
  unassigned_team?: boolean | undefined;
  mine?: boolean | undefined;
  active_only?: boolean | undefined;
  update_due?: boolean | undefined;
  duplicate?: boolean | undefined;
  restricted?: boolean | undefined;
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
 * The filters in canonical form, which is the same for every spelling of the same filters: arrays sorted and without
 * duplicates, text folded, times in UTC, defaults filled in. Cursors are bound to it. An incident must match one
 * value of each array that is not empty.
 */
export interface ListFilters {
  postmortemsOnly: boolean;
  lifecycles: readonly Lifecycle[];
  postmortems: readonly Postmortem[];
  statuses: readonly string[];
  /** `nonterminal` or the key of a status; null: all statuses. */
  statusScope: string | null;
  activeOnly: boolean;
  /** Null: incidents whose next update is due, and the others. */
  updateDue: boolean | null;
  /** Null: incidents that are duplicates of others, and those that are not. */
  duplicate: boolean | null;
  restricted: boolean | null;
  severities: readonly string[];
  externalId: string | null;
  /** Null: no search. */
  text: string | null;
  services: readonly string[];
  serviceTiers: readonly string[];
  teams: readonly number[];
  effectiveTeams: readonly number[];
  unassignedTeam: boolean;
  regions: readonly string[];
  /** Keys of roles, some with a colon and the ID of a user. */
  roles: readonly string[];
  diagnoses: readonly Diagnosis[];
  customerImpacts: readonly CustomerImpact[];
  affectedCustomers: Comparison | null;
  /** In minor units of `currency`. Null: all amounts, converted to the workspace's reporting currency. */
  mrr: (Comparison & { currency: string | null }) | null;
  created: TimeRange;
  impactStarted: TimeRange;
}

/** Bounds of a time; null: none. */
export interface TimeRange {
  /** Inclusive. */
  from: Instant | null;
  /** Inclusive. */
  to: Instant | null;
  /** Exclusive. */
  before: Instant | null;
}

/** @throws DomainError `invalid_request` for parameters that exclude or require each other */
export function listFilters(parameters: FilterParameters, reportingCurrency: string): ListFilters {
  if (parameters.mine === true)
    throw invalidRequest('mine', 'Must not be true: an API key has no incidents of its own');
  return {
    postmortemsOnly: parameters.scope === 'postmortem',
    lifecycles: canonical(parameters.lifecycle),
    postmortems: canonical(parameters.postmortem),
    statuses: canonical(parameters.status),
    statusScope:
      parameters.status_scope === undefined || parameters.status_scope === 'all' ? null : parameters.status_scope,
    activeOnly: parameters.active_only === true,
    updateDue: parameters.update_due ?? null,
    duplicate: parameters.duplicate ?? null,
    restricted: parameters.restricted ?? null,
    severities: canonical(parameters.severity),
    externalId: parameters.external_id?.trim() ?? null,
    text: fold(parameters.q ?? '') || null,
    services: canonical(parameters.service?.map((service) => service.normalize('NFC'))),
    serviceTiers: canonical(parameters.service_tier),
    teams: canonical(parameters.team_id),
    effectiveTeams: canonical(parameters.effective_team_id),
    unassignedTeam: parameters.unassigned_team === true,
    regions: canonical(parameters.region?.map((region) => foldedKey(region.trim()))),
    roles: canonical(parameters.role),
    diagnoses: canonical(parameters.diagnosis),
    customerImpacts: canonical(parameters.impact_status),
    affectedCustomers: comparison(parameters, 'affected_customers'),
    mrr: mrrComparison(parameters, reportingCurrency),
    created: timeRange(parameters, 'created'),
    impactStarted: timeRange(parameters, 'impact_started'),
  };
}

/** Those of the filters that lists had when they gave out legacy cursors. */
export function legacyFilters(filters: ListFilters): ListFilters {
  const { postmortemsOnly, statuses, severities, services, teams, created } = filters;
  // No filter by revenue: the currency has no effect.
  const none = listFilters({}, '');
  return {
    ...none,
    ...{ postmortemsOnly, statuses, severities, services, teams },
    created: { ...created, before: null },
  };
}

function mrrComparison(parameters: FilterParameters, reportingCurrency: string): ListFilters['mrr'] {
  const { mrr_basis: basis = 'normalized', mrr_currency: currency = null } = parameters;
  if (basis === 'source' && currency === null)
    throw invalidRequest('mrr_currency', 'Is required with mrr_basis=source');
  if (basis === 'normalized' && currency !== null && currency !== reportingCurrency) {
    throw invalidRequest(
      'mrr_currency',
      `Must be ${reportingCurrency}, the reporting currency, unless mrr_basis is source`,
    );
  }
  const compared = comparison(parameters, 'mrr');
  return compared && { ...compared, currency: basis === 'source' ? currency : null };
}

function comparison(parameters: FilterParameters, name: 'affected_customers' | 'mrr'): Comparison | null {
  const { [`${name}_op` as const]: operator, [`${name}_value` as const]: value } = parameters;
  if (operator === undefined && value === undefined) return null;
  if (operator === undefined) throw invalidRequest(`${name}_op`, `Is required with ${name}_value`);
  if (value === undefined) throw invalidRequest(`${name}_value`, `Is required with ${name}_op`);
  return { operator, value };
}

function timeRange<Name extends 'created' | 'impact_started'>(parameters: FilterParameters, name: Name): TimeRange {
  const {
    [`${name}_from` as const]: from,
    [`${name}_to` as const]: to,
    [`${name}_before` as const]: before,
  } = parameters;
  if (before !== undefined && to !== undefined) {
    throw invalidRequest(`${name}_before`, `Must not be combined with ${name}_to`);
  }
  return { from: instant(from, ceilTimestamp), to: instant(to), before: instant(before, ceilTimestamp) };
}

const instant = (text: string | undefined, read = parseTimestamp): Instant | null =>
  text === undefined ? null : (read(text) ?? null);

function canonical<Value extends string | number>(values: readonly Value[] = []): Value[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : 1));
}

/**
 * The states of an incident's investigation, by its latest run, in the order of lists. The database stores the index in this
 * array: the column `incidents.diagnosis` is generated from the run's status.
 */
export const DIAGNOSES = ['not_run', 'in_progress', 'completed', 'needs_attention', 'unavailable'] as const;

type Diagnosis = (typeof DIAGNOSES)[number];
