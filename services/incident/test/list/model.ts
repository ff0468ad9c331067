import { fold } from '@tocsin/schemas';
import { byCodePoints } from '../../src/shared/domain/compare-text.ts';
import type { IncidentWire } from '../../src/incidents/http/wire.ts';
import type { Listed } from './population.ts';
import { CONFIGURATION, DEFINITIONS, type FieldSlug, NOW, SERVICES, TEAMS } from './world.ts';

/** The query parameters of a list. */
export interface ListParameters {
  scope?: string | undefined;
  status?: string[] | undefined;
  severity?: string[] | undefined;
  q?: string | undefined;
  external_id?: string | undefined;
  service?: string[] | undefined;
  team_id?: number[] | undefined;
  created_from?: string | undefined;
  created_to?: string | undefined;
  created_before?: string | undefined;
  impact_started_from?: string | undefined;
  impact_started_to?: string | undefined;
  impact_started_before?: string | undefined;
  region?: string[] | undefined;
  lifecycle?: string[] | undefined;
  service_tier?: string[] | undefined;
  effective_team_id?: number[] | undefined;
  unassigned_team?: boolean | undefined;
  active_only?: boolean | undefined;
  status_scope?: string | undefined;
  diagnosis?: string[] | undefined;
  sort?: string | undefined;
  direction?: string | undefined;
  sort_custom_field?: string | undefined;
  custom_filter?: CustomFilter[] | undefined;
  impact_status?: string[] | undefined;
  affected_customers_op?: string | undefined;
  affected_customers_value?: number | undefined;
  mrr_op?: string | undefined;
  mrr_value?: number | undefined;
  mrr_currency?: string | undefined;
  mrr_basis?: string | undefined;
}

export interface CustomFilter {
  slug: FieldSlug;
  operator: string;
  value: unknown;
}

const { workflow_statuses: STATUSES, severities: SEVERITIES, exchange_rates: RATES } = CONFIGURATION;
const TERMINAL = STATUSES.filter((status) => 'is_terminal' in status).map(({ key }) => key);

const serviceOf = ({ service }: IncidentWire) => SERVICES.find(({ slug }) => slug === service);
const effectiveTeam = (incident: IncidentWire) => {
  const service = serviceOf(incident);
  return incident.team_id ?? (service?.archived_at === null ? service.owner_team_id : null);
};

function diagnosisOf({ investigation_summary }: IncidentWire): string {
  switch (investigation_summary?.latest_run?.status) {
    case undefined:
      return 'not_run';
    case 'queued':
    case 'running':
      return 'in_progress';
    case 'completed':
      return 'completed';
    case 'unavailable':
      return 'unavailable';
    default:
      return 'needs_attention';
  }
}
const DIAGNOSES = ['not_run', 'in_progress', 'completed', 'needs_attention', 'unavailable'];

const compare = (left: number, operator: string | undefined, right = 0) =>
  operator === '<' ? left < right : operator === '>' ? left > right : left === right;

const hasText = ({ title, impact_summary, human_id }: IncidentWire, text: string) =>
  fold(title).includes(text) ||
  fold(impact_summary).includes(text) ||
  (/\d$/.test(text) && fold(human_id).startsWith(text));

/** Whether a time is within bounds: at or after the first, at or before the second, before the third. */
function inRange(time: string | null, [from, to, before]: readonly (string | undefined)[]): boolean {
  if (time === null) return [from, to, before].every((bound) => bound === undefined);
  return (
    (from === undefined || time >= from) && (to === undefined || time <= to) && (before === undefined || time < before)
  );
}

/** Whether an incident meets all filters except those by status. */
function meets({ wire, affectedCustomers, mrr }: Listed, parameters: ListParameters): boolean {
  const any = <Value>(values: readonly Value[] | undefined, matches: (value: Value) => boolean) =>
    values === undefined || values.some(matches);
  const unassigned = parameters.unassigned_team === true && wire.team_id === null;
  const filtersByTeam = parameters.team_id !== undefined || parameters.effective_team_id !== undefined;
  return (
    (parameters.scope !== 'postmortem' || wire.issue_type === 'postmortem') &&
    (parameters.q === undefined || hasText(wire, fold(parameters.q))) &&
    (parameters.external_id === undefined || wire.external_id === parameters.external_id) &&
    any(parameters.severity, (key) => wire.severity === key) &&
    any(parameters.service, (slug) => wire.service === slug) &&
    (unassigned || any(parameters.team_id, (id) => wire.team_id === id)) &&
    (unassigned || any(parameters.effective_team_id, (id) => effectiveTeam(wire) === id)) &&
    (parameters.unassigned_team !== true || filtersByTeam || unassigned) &&
    inRange(wire.created_at, [parameters.created_from, parameters.created_to, parameters.created_before]) &&
    inRange(wire.impact_started_at, [
      parameters.impact_started_from,
      parameters.impact_started_to,
      parameters.impact_started_before,
    ]) &&
    any(parameters.region, (region) => wire.regions.some((incidentRegion) => fold(incidentRegion) === fold(region))) &&
    any(parameters.lifecycle, (type) => wire.issue_type === type) &&
    any(parameters.service_tier, (tier) => serviceOf(wire)?.tier === tier) &&
    any(parameters.diagnosis, (diagnosis) => diagnosisOf(wire) === diagnosis) &&
    any(parameters.impact_status, (status) => wire.customer_impact_status === status) &&
    (parameters.affected_customers_op === undefined ||
      (affectedCustomers !== null &&
        compare(affectedCustomers, parameters.affected_customers_op, parameters.affected_customers_value))) &&
    (parameters.mrr_op === undefined || meetsMrr(mrr, parameters)) &&
    (parameters.custom_filter ?? []).every((filter) => meetsCustom(wire.custom_fields, filter))
  );
}

function meetsStatus({ wire }: Listed, { status, active_only, status_scope }: ListParameters): boolean {
  const isTerminal = TERMINAL.includes(wire.status);
  return (
    (status === undefined || status.includes(wire.status)) &&
    !(active_only === true && isTerminal) &&
    (status_scope === undefined ||
      status_scope === 'all' ||
      (status_scope === 'nonterminal' ? !isTerminal : wire.status === status_scope))
  );
}

/** Factors to cents, in units of 1/100,000 so that all numbers are whole. A yen has no minor unit. */
const CENTS: Record<string, number> = {
  USD: 100_000,
  ...Object.fromEntries(RATES.map(({ currency, rate }) => [currency, Math.round(rate * 100_000)])),
};
CENTS.JPY = (CENTS.JPY ?? 0) * 100;

function meetsMrr(mrr: Listed['mrr'], { mrr_basis, mrr_currency, mrr_op, mrr_value }: ListParameters): boolean {
  if (mrr === null) return false;
  if (mrr_basis === 'source') {
    const amounts = mrr.filter(({ currency }) => currency === mrr_currency);
    return compare(
      amounts.reduce((sum, { amount_minor }) => sum + amount_minor, 0),
      mrr_op,
      mrr_value,
    );
  }
  if (mrr.some(({ currency }) => CENTS[currency] === undefined)) return false;
  const sum = mrr.reduce((total, { currency, amount_minor }) => total + amount_minor * (CENTS[currency] ?? 0), 0);
  return compare(Math.round(sum / 100_000), mrr_op, mrr_value);
}

type Money = { amount: number; currency: string };

function meetsCustom(values: Readonly<Record<string, unknown>>, { slug, operator, value }: CustomFilter): boolean {
  const { field_type: type } = DEFINITIONS.find((field) => field.slug === slug)!;
  const valueOfField = values[slug];
  if (operator === 'has_value') return [valueOfField ?? []].flat().length > 0 === value;
  if (valueOfField === undefined) return operator === 'is_not' || operator === 'excludes';
  const list = [value].flat();
  if (type === 'multi_select') {
    const has = (option: unknown) => (valueOfField as string[]).some((one) => fold(one) === fold(option as string));
    if (operator === 'includes_all') return list.every(has);
    return operator === 'excludes' ? !list.some(has) : list.some(has);
  }
  if (type === 'string' || type === 'select') {
    const text = fold(valueOfField as string);
    const texts = list.map((one) => fold(one as string));
    if (operator === 'contains') return texts.some((one) => text.includes(one));
    if (operator === 'starts_with') return texts.some((one) => text.startsWith(one));
    return texts.includes(text) === (operator === 'is');
  }
  if (type === 'boolean') return list.includes(valueOfField);
  if (type === 'monetary') {
    const monies = list as Money[];
    const { amount, currency } = valueOfField as Money;
    if (monies.some((money) => money.currency !== currency)) return false;
    return inOrder(
      amount,
      operator,
      monies.map((money) => money.amount),
    );
  }
  return inOrder(
    comparable(type, valueOfField),
    operator,
    list.map((one) => comparable(type, one)),
  );
}

/** A value as a number or text with the same order. */
function comparable(type: string, value: unknown): number | string {
  if (type === 'number') return value as number;
  if (type === 'datetime') return Date.parse(value as string);
  return type === 'time' && (value as string).length === 5 ? `${value as string}:00` : (value as string);
}

function inOrder(operand: number | string, operator: string, others: (number | string)[]): boolean {
  const [low, high] = others;
  switch (operator) {
    case 'gt':
    case 'after':
      return operand > low!;
    case 'gte':
      return operand >= low!;
    case 'lt':
    case 'before':
      return operand < low!;
    case 'lte':
      return operand <= low!;
    case 'between':
      return operand >= low! && operand <= high!;
    default:
      return others.includes(operand);
  }
}

type SortKey = number | string | readonly (number | string)[] | null;

const text = (value: string): SortKey => (value === '' ? null : fold(value));

/** The sort key of an incident; null if it has none. */
function keyOf(
  { wire, affectedCustomers }: Listed,
  { sort = 'created_at', sort_custom_field }: ListParameters,
): SortKey {
  switch (sort) {
    case 'last_event_at':
      return wire.last_event_at;
    case 'impact_started_at':
      return wire.impact_started_at;
    case 'severity':
      return -SEVERITIES.findIndex(({ key }) => key === wire.severity);
    case 'service':
      return text(wire.service);
    case 'diagnosis':
      return DIAGNOSES.indexOf(diagnosisOf(wire));
    case 'case':
      return Number(wire.human_id.slice('INC-'.length));
    case 'regions':
      return text(wire.regions[0] ?? '');
    case 'team': {
      const id = effectiveTeam(wire);
      return id === null ? null : text(TEAMS.find((team) => team.id === id)?.name ?? '');
    }
    case 'impact':
      return affectedCustomers;
    case 'status':
      return STATUSES.findIndex(({ key }) => key === wire.status);
    case 'owner':
      return text(wire.incident_manager);
    case 'events':
      return wire.event_count;
    case 'custom':
      return customKey(wire.custom_fields, sort_custom_field!);
    default:
      return wire.created_at;
  }
}

function customKey(values: Readonly<Record<string, unknown>>, slug: string): SortKey {
  const { field_type: type, config } = DEFINITIONS.find((field) => field.slug === slug)!;
  const value = values[slug];
  if (value === undefined) return null;
  if (type === 'boolean') return Number(value);
  if (type === 'string') return text(value as string);
  if (type === 'monetary') return [(value as Money).currency, (value as Money).amount];
  if (type !== 'select' && type !== 'multi_select') return comparable(type, value);
  const first = ((type === 'select' ? value : (value as string[])[0]) as string | undefined) ?? '';
  if (first === '') return null;
  const options = (config?.options ?? []).map((option) => fold(typeof option === 'string' ? option : option.value));
  const place = options.indexOf(fold(first));
  return [place === -1 ? options.length : place, place === -1 ? fold(first) : ''];
}

function compareKeys(a: NonNullable<SortKey>, b: NonNullable<SortKey>): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return byCodePoints(a, b);
  const [left, right] = [a as (number | string)[], b as (number | string)[]];
  return compareKeys(left[0]!, right[0]!) || compareKeys(left[1]!, right[1]!);
}

/** Everything that a list returns over all of its pages. */
export interface Expected {
  ids: number[];
  restricted: number;
  counts: { matched: number; all: number; ongoing: number; by_status: Record<string, number> };
}

export function expected(
  population: readonly Listed[],
  parameters: ListParameters,
  { archived, historyDays }: { archived: boolean; historyDays: number | null },
): Expected {
  const from = historyDays === null ? '' : new Date(Date.parse(NOW) - historyDays * 86_400_000).toISOString();
  const incidents = population
    .filter(({ wire }) => (wire.archived_at !== null) === archived)
    .filter((one) => meets(one, parameters));
  const shown = incidents.filter(({ wire }) => wire.created_at >= from);
  const matched = shown.filter((one) => meetsStatus(one, parameters));
  const sign = parameters.direction === 'asc' ? 1 : -1;
  const key = (one: Listed) => (archived ? one.wire.archived_at : keyOf(one, parameters));
  const sorted = matched.toSorted((a, b) => {
    const [left, right] = [key(a), key(b)];
    const byKey = left === null || right === null ? 0 : compareKeys(left, right);
    if (byKey !== 0) return byKey * sign;
    if ((left === null) !== (right === null)) return left === null ? 1 : -1;
    return (a.wire.id - b.wire.id) * sign;
  });
  const counted = (keys: readonly string[]) => shown.filter(({ wire }) => keys.includes(wire.status)).length;
  return {
    ids: sorted.map(({ wire }) => wire.id),
    restricted: incidents.filter((one) => one.wire.created_at < from && meetsStatus(one, parameters)).length,
    counts: {
      matched: matched.length,
      all: shown.length,
      ongoing: counted(STATUSES.map(({ key: status }) => status).filter((status) => !TERMINAL.includes(status))),
      by_status: Object.fromEntries(STATUSES.map(({ key: status }) => [status, counted([status])])),
    },
  };
}
