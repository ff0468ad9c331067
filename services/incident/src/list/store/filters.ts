import { foldedKey } from '@tocsin/schemas';
import { DIAGNOSES, type Comparison, type ListFilters, type TimeRange } from '../domain/list-filters.ts';
import type { Conversion } from '../../configuration/domain/exchange-rates.ts';
import { ISSUE_TYPES } from '../../incidents/domain/incident-properties.ts';
import { regionKey, roleKey } from '../../incidents/store/incident-row.ts';
import type { CatalogService } from '../../replicas/store/catalog.ts';
import type { IncidentQuery } from './query.ts';
import { join, type Sql, sql } from '../../shared/store/sql.ts';
import { isVisibleByIndex } from '../../visibility/store/visible.ts';
import { containsText } from '../../shared/store/contains-text.ts';

/** Incidents that the list shows, or incidents that the workspace's history limit hides (`restricted_count`). */
export type Visibility = 'shown' | 'restricted';

/** The conditions on incidents `i` of a list, except its filters by status and by custom fields. */
export function filterConditions(query: IncidentQuery, visibility: Visibility): Sql[] {
  const { workspaceId, archived, visibleFrom } = query;
  return [
    sql`i.workspace_id = ${workspaceId}`,
    archived ? sql`i.archived_at is not null` : sql`i.archived_at is null`,
    isVisibleByIndex(workspaceId),
    ...(visibleFrom === null
      ? []
      : [visibility === 'shown' ? sql`i.created_at >= ${visibleFrom}` : sql`i.created_at < ${visibleFrom}`]),
    ...rangeConditions(sql`i.created_at`, query.filters.created),
    ...propertyConditions(query),
  ];
}

export const statusConditions = ({ statuses }: IncidentQuery): Sql[] =>
  statuses === null ? [] : [oneOf(sql`i.status`, statuses)];

/** Whether a list has any condition on the properties of incidents. */
export const hasConditions = (query: IncidentQuery): boolean =>
  query.statuses !== null ||
  query.visibleFrom !== null ||
  [...rangeConditions(sql`i.created_at`, query.filters.created), ...propertyConditions(query)].length > 0;

/** Whether a list filters by anything besides the time of creation. */
export const isSelective = (query: IncidentQuery): boolean =>
  query.statuses !== null || query.custom.length > 0 || propertyConditions(query).length > 0;

/** By the time of the database: cursors are bound to the filter, and not to the time. */
const UPDATE_IS_DUE = sql`i.next_update_at is not null and i.next_update_at <= now() and i.ended_at is null`;

function propertyConditions({ workspaceId, filters, catalog: { services }, conversions }: IncidentQuery): Sql[] {
  const {
    externalId,
    duplicate,
    updateDue,
    restricted,
    severities,
    regions,
    roles,
    diagnoses,
    customerImpacts,
    affectedCustomers,
    mrr,
    serviceTiers,
  } = filters;
  const unlessEmpty = <Value>(values: readonly Value[], condition: () => Sql) =>
    values.length === 0 ? [] : [condition()];
  return [
    ...(externalId === null ? [] : [sql`i.external_id = ${externalId}`]),
    ...(restricted === null ? [] : [restricted ? sql`i.restricted` : sql`not i.restricted`]),
    ...(updateDue === null ? [] : [updateDue ? UPDATE_IS_DUE : sql`(${UPDATE_IS_DUE}) is not true`]),
    ...(duplicate === null ? [] : [duplicate ? sql`i.is_duplicate` : sql`not i.is_duplicate`]),
    ...rangeConditions(sql`i.impact_started_at`, filters.impactStarted),
    ...lifecycleConditions(filters),
    ...unlessEmpty(filters.postmortems, () => withPostmortems(filters.postmortems)),
    ...unlessEmpty(severities, () => sql`i.severity = any(${severities})`),
    ...unlessEmpty(filters.services, () => ofServices(filters.services)),
    ...unlessEmpty(serviceTiers, () => ofServices(slugsOf(services.filter(({ tier }) => serviceTiers.includes(tier))))),
    ...teamConditions(filters, services),
    ...unlessEmpty(regions, () => sql`i.region_keys && ${regions.map((region) => regionKey(workspaceId, region))}`),
    ...unlessEmpty(roles, () => withRoles(workspaceId, roles)),
    ...unlessEmpty(diagnoses, () => sql`i.diagnosis = any(${diagnoses.map((each) => DIAGNOSES.indexOf(each))})`),
    ...unlessEmpty(customerImpacts, () => sql`i.customer_impact_status = any(${customerImpacts})`),
    ...(affectedCustomers === null ? [] : [compare(sql`i.affected_customers`, affectedCustomers)]),
    ...(mrr === null ? [] : [mrrCondition(mrr, conversions)]),
  ];
}

/** The second condition is that of the index. */
const withRoles = (workspaceId: number, roles: readonly string[]): Sql =>
  sql`(i.role_keys && ${roles.map((role) => roleKey(workspaceId, role))} and i.role_keys <> '{}')`;

const rangeConditions = (time: Sql, { from, to, before }: TimeRange): Sql[] => [
  ...(from === null ? [] : [sql`${time} >= ${from}`]),
  ...(to === null ? [] : [sql`${time} <= ${to}`]),
  ...(before === null ? [] : [sql`${time} < ${before}`]),
];

function lifecycleConditions({ postmortemsOnly, lifecycles }: ListFilters): Sql[] {
  if (!postmortemsOnly && lifecycles.length === 0) return [];
  const ofType = oneOf(
    sql`i.issue_type`,
    ISSUE_TYPES.filter((type) => lifecycles.length === 0 || lifecycles.includes(type)).filter(
      (type) => !postmortemsOnly || type === 'postmortem',
    ),
  );
  if (!lifecycles.includes('alert')) return [ofType];
  const unhandled = lifecycles.length === 1 ? sql`i.is_unhandled_alert` : sql`(i.is_unhandled_alert or ${ofType})`;
  return [unhandled, ...(postmortemsOnly ? [sql`i.issue_type = 'postmortem'`] : [])];
}

function withPostmortems(postmortems: ListFilters['postmortems']): Sql {
  const states = postmortems.filter((each) => each !== 'none');
  if (states.length === postmortems.length) return oneOf(sql`i.postmortem_state`, states);
  const none = sql`i.postmortem_state is null`;
  return states.length === 0 ? none : sql`(${none} or ${oneOf(sql`i.postmortem_state`, states)})`;
}

/** `false` for no values, so that Postgres does not search for them. */
const oneOf = (column: Sql, values: readonly (string | number)[]): Sql =>
  values.length === 0 ? sql`false` : sql`${column} = any(${values})`;

/** `unassignedTeam` adds incidents without a team of their own to those that the other filters by team select. */
function teamConditions(
  { teams, effectiveTeams, unassignedTeam }: ListFilters,
  services: readonly CatalogService[],
): Sql[] {
  const conditions = [
    ...(teams.length === 0 ? [] : [sql`i.team_id = any(${teams})`]),
    ...(effectiveTeams.length === 0 ? [] : [ofEffectiveTeams(effectiveTeams, services)]),
  ];
  if (!unassignedTeam) return conditions;
  if (conditions.length === 0) return [sql`i.team_id is null`];
  return conditions.map((condition) => sql`(${condition} or i.team_id is null)`);
}

/** The effective team is the incident's own team or, without one, the team that owns its service. */
function ofEffectiveTeams(teams: readonly number[], services: readonly CatalogService[]): Sql {
  const owned = services.filter(({ ownerTeamId }) => ownerTeamId !== null && teams.includes(ownerTeamId));
  return sql`(i.team_id = any(${teams}) or (i.team_id is null and ${ofServices(slugsOf(owned))}))`;
}

const slugsOf = (services: readonly CatalogService[]) => services.map(({ slug }) => slug);

/** Compares slugs exactly. The folded comparison is redundant: it is there because that column has the index. */
export const ofServices = (slugs: readonly string[]): Sql =>
  sql`(${oneOf(sql`i.service_folded`, slugs.map(foldedKey))} and ${oneOf(sql`i.service`, slugs)})`;

const OPERATORS = { '<': sql`<`, '>': sql`>`, '=': sql`=` } as const;

export const compare = (left: Sql, { operator, value }: Comparison): Sql =>
  sql`${left} ${OPERATORS[operator]} ${value}`;

/**
 * Compares the sum of an incident's revenue at stake. An incident without revenue data meets no condition; nor does one
 * with an amount that cannot be converted, where amounts are converted. The sum of an empty list of amounts is 0.
 * An incident with revenue data has a number of affected customers, which is indexed.
 */
function mrrCondition(mrr: NonNullable<ListFilters['mrr']>, conversions: readonly Conversion[]): Sql {
  const factors = conversions.map(({ currency, factor }) => sql`when ${currency} then ${factor}::numeric`);
  const sum =
    mrr.currency === null
      ? sql`(select case when count(*) = count(factor)
              then coalesce(round(sum((amount ->> 'amount_minor')::numeric * factor)), 0) end
            from jsonb_array_elements(i.mrr) as amount
            cross join lateral (select case amount ->> 'currency' ${join(factors, ' ')} end as factor) as converted)`
      : sql`(select coalesce(sum((amount ->> 'amount_minor')::numeric), 0)
            from jsonb_array_elements(i.mrr) as amount where amount ->> 'currency' = ${mrr.currency})`;
  // `coalesce` makes Postgres estimate that half of the rows pass, so it reads along the order of the list. That is
  // right here: if few incidents pass, the prefilter has replaced this condition by their IDs.
  return sql`(i.affected_customers is not null and i.mrr is not null and coalesce(${compare(sum, mrr)}, false))`;
}

/** A reference to an incident by a part of its number, folded. */
const REFERENCE = /^inc-([1-9]\d*)$/;

// A text that an earlier release wrote is not folded.
const titleOf = (incident: Sql) => sql`coalesce(${incident}.title_folded, lower(${incident}.title))`;
const summaryOf = (incident: Sql) =>
  sql`coalesce(${incident}.impact_summary_folded, lower(${incident}.impact_summary))`;

/** Whether the title, the impact summary or the beginning of the human ID of an incident is or has the folded text. */
export function hasOwnText(incident: Sql, text: string): Sql {
  const digits = REFERENCE.exec(text)?.[1];
  const isReferred = digits === undefined ? sql`` : sql`or starts_with(${incident}.number::text, ${digits})`;
  return sql`(${containsText(titleOf(incident), text)} or ${containsText(summaryOf(incident), text)} ${isReferred})`;
}

/** The bytes that `hasOwnText` compares. */
export const ownTextBytes = (incident: Sql) =>
  sql`(octet_length(${titleOf(incident)}) + octet_length(${summaryOf(incident)}))`;
