import { MAX_SEARCHED_TEXT } from '@tocsin/schemas';
import fc from '@tocsin/testing/fuzz';
import type { ListParameters, CustomFilter } from './model.ts';
import { CREATED, PLACES, TEXTS } from './population.ts';
import { DEFINITIONS, type FieldSlug } from './world.ts';

const pick = <Value>(...values: Value[]) => fc.constantFrom(...values);
const some = <Value>(...values: Value[]) => fc.array(pick(...values), { minLength: 1, maxLength: 3 });
const rarely = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const range = <Value>(value: fc.Arbitrary<Value>) => fc.tuple(value, value);
const anyOf = <Value>(value: fc.Arbitrary<Value>) => fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 }));

/** No longer than a filter may be. */
const texts = pick(...TEXTS.map((text) => text.slice(0, MAX_SEARCHED_TEXT)), 'STRASSE', 'ä', 'e', 'AC');
/** Parts of texts, of every length, and texts that have the letters of one in another order. */
const parts = fc.oneof(
  texts,
  fc
    .tuple(pick(...TEXTS.map((text) => Array.from(text).slice(0, 40))), fc.nat(30), fc.integer({ min: 1, max: 9 }))
    .map(([characters, from, length]) =>
      characters
        .slice(from % (characters.length + 1))
        .slice(0, length)
        .join(''),
    ),
  pick('%', '_', '0% o', 'abab', 'abaab', 'x', 'qu', 'needle in', 'needle on', 'and so on, '.repeat(9)),
);
const numbers = pick(-3, 0, 0.1, 0.3, 0.30000000000000004, 7, 7.25, 1e-7, 1e15, 2);
const days = pick('0001-01-01', '2026-02-28', '2026-11-20', '2026-11-21', '9999-12-31');
const hours = pick('00:00', '00:00:00', '09:30', '09:30:01', '12:00');
const moments = pick(
  '2026-11-20T09:00:00Z',
  '2026-11-20T10:00:00.0009+01:00',
  '2026-11-20T09:00:00.001z',
  '2025-01-01T00:00:00Z',
);
const amounts = pick(0, 9.99, 10, 250, 11);
const currencies = pick('EUR', 'USD', 'JPY', 'CHF');
const options = pick('production', 'Staging', 'dev', 'qa', 'Beta', 'PRODUCTION', 'none', '');
const places = pick(...PLACES, 'none', 'WEST', 'su\u0308d');

const filter = (
  slug: FieldSlug,
  operators: readonly string[],
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<CustomFilter> => fc.record({ slug: fc.constant(slug), operator: pick(...operators), value });

const monies = fc.record({ amount: amounts, currency: currencies });
const moneyRange = fc.tuple(amounts, amounts, currencies).map(([low, high, currency]) => [
  { amount: low, currency },
  { amount: high, currency },
]);

const customFilter = fc.oneof(
  filter('customer', ['is', 'is_not'], anyOf(texts)),
  filter('customer', ['contains'], parts),
  filter('customer', ['starts_with'], texts),
  filter('score', ['eq', 'gt', 'lt', 'gte', 'lte'], numbers),
  filter('score', ['between'], range(numbers)),
  filter('flag', ['is'], anyOf(fc.boolean())),
  filter('day', ['is'], anyOf(days)),
  filter('day', ['before', 'after', 'gte', 'lte'], days),
  filter('day', ['between'], range(days)),
  filter('hour', ['is'], anyOf(hours)),
  filter('hour', ['before', 'after'], hours),
  filter('moment', ['is'], anyOf(moments)),
  filter('moment', ['before', 'after', 'gte', 'lte'], moments),
  filter('moment', ['between'], range(moments)),
  filter('cost', ['eq', 'gt', 'lt', 'gte', 'lte'], monies),
  filter('cost', ['between'], moneyRange),
  filter('env', ['is', 'is_not'], anyOf(options)),
  filter('places', ['includes_any', 'includes_all', 'excludes'], anyOf(places)),
  ...DEFINITIONS.filter(({ field_type: type }) => type !== 'json').map(({ slug }) =>
    filter(slug as FieldSlug, ['has_value'], fc.boolean()),
  ),
);

const filters: fc.Arbitrary<ListParameters> = fc.record({
  scope: rarely(pick('all', 'postmortem')),
  status: rarely(some('triage', 'open', 'active', 'unused', 'resolved', 'closed', 'abandoned')),
  severity: rarely(some('worst', 'bad', 'fair')),
  q: rarely(fc.oneof(parts, pick('inc-1', 'INC-12', 'Inc-3', 'inc-', '1'))),
  external_id: rarely(pick('alert-3', 'alert-6', 'ALERT-3', 'alert-4')),
  service: rarely(some('checkout', 'Checkout', 'ärger', 'mail', 'ÜBER', 'nothing')),
  team_id: rarely(some(1, 2, 3, 4, 77)),
  created_from: rarely(pick(...CREATED)),
  created_to: rarely(pick(...CREATED)),
  impact_started_from: rarely(pick(...CREATED.slice(8, 22))),
  impact_started_to: rarely(pick(...CREATED.slice(8, 22))),
  region: rarely(some('EU-WEST', 'eu-east', 'ürümqi', 'ÜRÜMQI', 'nowhere')),
  lifecycle: rarely(some('ticket', 'incident', 'postmortem', 'alert')),
  service_tier: rarely(some('t0', 't1', 't2', 't3')),
  effective_team_id: rarely(some(1, 2, 3, 4, 5, 77)),
  unassigned_team: rarely(fc.boolean()),
  active_only: rarely(fc.boolean()),
  status_scope: rarely(pick('all', 'nonterminal', 'open', 'closed', 'unused')),
  diagnosis: rarely(some('not_run', 'in_progress', 'completed', 'needs_attention', 'unavailable')),
  impact_status: rarely(some('unknown', 'none', 'confirmed')),
  custom_filter: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.array(customFilter, { minLength: 1, maxLength: 3 }) },
  ),
});

/** Sums of one or two amounts, converted or not, and numbers next to them. */
const sums = fc.oneof(
  pick(0, 1, 2, 100, 109, 118, 660, 1_000, 1_085, 1_109, 1_194, 123_457, 133_951, 81_482, 81_483, 124_457, 400_000),
  fc
    .tuple(pick(0, 1, 100, 109, 1_000, 123_457), pick(0, 1, 100, 109, 1_000), pick(0.66, 1, 1.085))
    .map(([one, other, factor]) => Math.round(one + other * factor)),
);
const operators = pick('<', '>', '=');
const pairs: fc.Arbitrary<ListParameters> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  fc.record({ affected_customers_op: operators, affected_customers_value: pick(0, 1, 5, 6, 2_000) }),
  fc.record({ mrr_op: operators, mrr_value: sums, mrr_currency: rarely(pick('USD')) }),
  fc.record({
    mrr_op: operators,
    mrr_value: fc.oneof(sums, pick(200, 1_109, 2_000)),
    mrr_basis: fc.constant('source'),
    mrr_currency: pick('USD', 'EUR', 'JPY', 'GBP', 'CHF'),
  }),
  fc.record({ created_to: fc.constant(undefined), created_before: pick(...CREATED) }),
  fc.record({ impact_started_to: fc.constant(undefined), impact_started_before: pick(...CREATED.slice(8, 22)) }),
);

const SORTS =
  'created_at last_event_at impact_started_at severity service diagnosis case regions team impact status owner events'.split(
    ' ',
  );
const sorts: fc.Arbitrary<ListParameters> = fc.record({
  direction: pick(undefined, 'asc', 'desc'),
  sort: fc.oneof({ weight: 2, arbitrary: pick(undefined, ...SORTS) }, { weight: 1, arbitrary: fc.constant('custom') }),
  sort_custom_field: pick(...DEFINITIONS.map(({ slug }) => slug).filter((slug) => slug !== 'blob')),
});

export interface ListRequest {
  parameters: ListParameters;
  archived: boolean;
  historyDays: number | null;
  limit: number;
}

export const listRequest: fc.Arbitrary<ListRequest> = fc
  .record({
    filters,
    pairs,
    sorts,
    archived: fc.oneof({ weight: 5, arbitrary: pick(false) }, pick(true)),
    historyDays: pick(null, null, 10, 5.25),
    limit: pick(3, 7, 20, 50, 100),
  })
  .map(({ filters: parameters, pairs: pair, sorts: sort, ...options }) => ({
    ...options,
    parameters: {
      ...parameters,
      ...pair,
      ...sort,
      ...(sort.sort !== 'custom' && { sort_custom_field: undefined }),
    },
  }));

type Item = string | number | boolean | CustomFilter;

export function searchOf(parameters: ListParameters): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters) as [string, Item | Item[] | undefined][]) {
    for (const item of [value].flat()) {
      if (item !== undefined) search.append(name, typeof item === 'object' ? JSON.stringify(item) : String(item));
    }
  }
  return search;
}
