import { SORTS as PLAIN_SORTS } from '../../list-sorts.ts';
import { ENVIRONMENTS, FIELDS, PLACES, REGIONS, SERVICES, TEAMS } from '../../seed/world.ts';

/** A query of the incident list, and its name in the report. */
export interface Case {
  name: string;
  query: string;
}

const plain = (query: string): Case => ({ name: query === '' ? 'no parameter' : query, query });

const custom = (slug: string, operator: string, value: unknown): Case => ({
  name: `custom_filter: ${slug} ${operator} ${JSON.stringify(value)}`,
  query: `custom_filter=${encodeURIComponent(JSON.stringify({ slug, operator, value }))}`,
});

const [service] = SERVICES;
const [region] = REGIONS;
const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString();

/** Each filter alone, with a frequent and with a rare value where there are such values. */
export const FILTERS: readonly Case[] = [
  plain(''),
  plain('scope=postmortem'),
  plain('status=closed'),
  plain('status=on-hold'),
  plain('severity=sev3'),
  plain('severity=sev1'),
  plain(`service=${service}`),
  plain('service=legacy_7'),
  plain('service=nothing'),
  plain('team_id=1'),
  { name: 'created_from (a year ago)', query: `created_from=${day(365)}` },
  { name: 'created_to (a year ago)', query: `created_to=${day(365)}` },
  { name: 'created_before (a year ago)', query: `created_before=${day(365)}` },
  plain(`region=${region}`),
  plain(`region=${REGIONS.at(-1)}`),
  plain('region=nowhere'),
  plain('lifecycle=ticket'),
  plain('lifecycle=alert'),
  plain('service_tier=t0'),
  plain('effective_team_id=1'),
  plain('unassigned_team=true'),
  plain('effective_team_id=1&unassigned_team=true'),
  plain('active_only=true'),
  plain('status_scope=nonterminal'),
  plain('diagnosis=not_run'),
  plain('diagnosis=unavailable'),
  plain('impact_status=confirmed'),
  { name: 'affected_customers > 100', query: 'affected_customers_op=%3E&affected_customers_value=100' },
  { name: 'affected_customers > 4990', query: 'affected_customers_op=%3E&affected_customers_value=4990' },
  { name: 'affected_customers = 1200', query: 'affected_customers_op=%3D&affected_customers_value=1200' },
  { name: 'mrr > 1,000.00, normalized', query: 'mrr_op=%3E&mrr_value=100000' },
  { name: 'mrr > 99,900.00, normalized', query: 'mrr_op=%3E&mrr_value=9990000' },
  { name: 'mrr = 0.01, normalized', query: 'mrr_op=%3D&mrr_value=1' },
  { name: 'mrr = 10,000.00, normalized', query: 'mrr_op=%3D&mrr_value=1000000' },
  { name: 'mrr = 50,000.00, normalized', query: 'mrr_op=%3D&mrr_value=5000000' },
  { name: 'mrr < 0.10, normalized', query: 'mrr_op=%3C&mrr_value=10' },
  { name: 'mrr > 1,000.00, in EUR', query: 'mrr_op=%3E&mrr_value=100000&mrr_basis=source&mrr_currency=EUR' },
  { name: 'mrr > 9,999.00, in EUR', query: 'mrr_op=%3E&mrr_value=999900&mrr_basis=source&mrr_currency=EUR' },
  { name: 'mrr < 0.10, in USD', query: 'mrr_op=%3C&mrr_value=10&mrr_basis=source&mrr_currency=USD' },
  custom('score', 'gt', 5_000),
  custom('score', 'eq', 4_711),
  custom('score', 'between', [100, 110]),
  custom('customer', 'is', 'Customer 17'),
  custom('customer', 'is_not', 'Customer 17'),
  custom('customer', 'starts_with', 'customer 48'),
  custom('customer', 'contains', 'omer 17'),
  custom('customer', 'contains', '4711'),
  custom('customer', 'contains', 'nobody'),
  custom('customer', 'contains', 'x'),
  custom('environment', 'is', ENVIRONMENTS[0]),
  custom('environment', 'is', ENVIRONMENTS.at(-1)),
  custom('public', 'is', true),
  custom('review', 'after', day(10).slice(0, 10)),
  custom('shift', 'before', '04:00'),
  custom('detected', 'gte', day(30)),
  custom('cost', 'gt', { amount: 500, currency: 'EUR' }),
  custom('cost', 'gt', { amount: 999.9, currency: 'EUR' }),
  custom('places', 'includes_any', PLACES.slice(0, 1)),
  custom('places', 'includes_all', PLACES.slice(0, 2)),
  custom('places', 'excludes', PLACES.slice(0, 1)),
];

/** Usual combinations of filters and sorts. */
export const COMBINATIONS: readonly Case[] = [
  plain('status=open&severity=sev1'),
  plain(`active_only=true&effective_team_id=${TEAMS.length}`),
  plain(`service=${service}&sort=severity`),
  plain(`region=${region}&severity=sev2&sort=last_event_at`),
  plain('active_only=true&sort=severity'),
  plain('active_only=true&sort=owner&direction=asc'),
  plain('team_id=1&sort=custom&sort_custom_field=score'),
];

const both = (sort: string): Case[] => [plain(`sort=${sort}&direction=desc`), plain(`sort=${sort}&direction=asc`)];

export const SORTS: readonly Case[] = PLAIN_SORTS.flatMap(both);

export const CUSTOM_SORTS: readonly Case[] = FIELDS.filter(({ field_type }) => field_type !== 'json').flatMap(
  ({ slug }) => both(`custom&sort_custom_field=${slug}`),
);

/** Queries with `include_counts`, measured separately from the page. */
export const COUNTS: readonly Case[] = [
  plain(''),
  plain('status=open'),
  plain('severity=sev2'),
  plain(`service=${service}`),
  plain('team_id=1'),
  plain('effective_team_id=1'),
  plain('service_tier=t0'),
  plain(`region=${region}`),
  plain('diagnosis=not_run'),
  plain('impact_status=unknown'),
  { name: 'affected_customers > 100', query: 'affected_customers_op=%3E&affected_customers_value=100' },
  { name: 'mrr > 1,000.00, normalized', query: 'mrr_op=%3E&mrr_value=100000' },
  custom('score', 'gt', 5_000),
  custom('environment', 'is', ENVIRONMENTS[0]),
];
