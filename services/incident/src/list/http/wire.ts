import {
  boundedText,
  externalIdText,
  MAX_ALTERNATIVES,
  MAX_FILTER_TEXT,
  MAX_SEARCHED_TEXT,
  timestampInput,
  instant,
} from '@tocsin/schemas';
import { pageQuery, pagination, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { DIAGNOSES, COMPARISONS, LIFECYCLES, POSTMORTEMS } from '../domain/list-filters.ts';
import { CUSTOMER_IMPACTS } from '../../incidents/domain/incident-properties.ts';
import { SORT_KEYS } from '../domain/list-sort.ts';
import { incident } from '../../incidents/http/wire.ts';
import { BUCKETS, DEFAULT_BUCKETS, MAX_BUCKETS } from '../domain/statistics-span.ts';
import { MAX_GROUPS, MAX_MEASURED } from '../store/statistics.ts';

const MAX_ITEMS = 100;
const MAX_CUSTOM_FILTERS = 32;

/** More than one custom filter needs, and little enough to parse. */
const MAX_CUSTOM_FILTER = 32_768;

const key = boundedText(MAX_FILTER_TEXT).min(1);
const id = z.int().min(1);
const amount = z.int().min(0);
const repeated = <Item extends z.ZodType>(item: Item) => z.array(item).max(MAX_ITEMS).optional();
const alternatives = <Item extends z.ZodType>(item: Item) => z.array(item).max(MAX_ALTERNATIVES).optional();

/** The query parameters of lists of incidents (contract: Incident lists). Repeated values are alternatives. */
export const listQuery = z.strictObject({
  ...pageQuery,
  scope: z
    .enum(['all', 'postmortem'])
    .optional()
    .meta({ description: '`postmortem`: only incidents with this issue type; default: all', default: 'all' }),
  status: alternatives(key).meta({ description: 'Keys of workflow statuses; default: any' }),
  severity: alternatives(key).meta({ description: 'Keys of severities; default: any' }),
  q: boundedText(MAX_SEARCHED_TEXT).optional().meta({
    description:
      'Text that occurs in title or impact_summary, in any case of letters, or the beginning of the human_id, such as `INC-1`; default: all incidents',
  }),
  external_id: externalIdText()
    .optional()
    .meta({ description: 'The incident with exactly this external_id; default: any' }),
  service: alternatives(key).meta({
    description:
      'Values of service, in the case of letters that they have; an unknown one matches nothing; default: any',
  }),
  team_id: alternatives(id).meta({
    description: 'IDs of teams that own incidents themselves, not through their service; default: any',
  }),
  created_from: timestampInput.optional().meta({ description: 'Incidents created then or later' }),
  created_to: timestampInput.optional().meta({ description: 'Incidents created then or earlier' }),
  created_before: timestampInput
    .optional()
    .meta({ description: 'Incidents created earlier; not allowed with created_to' }),
  impact_started_from: timestampInput.optional().meta({ description: 'Incidents whose impact began then or later' }),
  impact_started_to: timestampInput.optional().meta({ description: 'Incidents whose impact began then or earlier' }),
  impact_started_before: timestampInput
    .optional()
    .meta({ description: 'Incidents whose impact began earlier; not allowed with impact_started_to' }),
  region: repeated(boundedText(MAX_FILTER_TEXT)).meta({
    description: 'Regions, in any case of letters; an incident must have one of them; default: any',
  }),
  role: alternatives(
    z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9_-]{0,63}(?::[1-9]\d{0,15})?$/,
        "Must be the key of a role, or this, a colon and a user's ID",
      ),
  ).meta({
    description:
      'Keys of roles that somebody has, or that a user has: `scribe` or `scribe:7`, with the ID of the user; an unknown one matches nothing; default: any',
  }),
  lifecycle: repeated(z.enum(LIFECYCLES)).meta({
    description: 'Issue types, and `alert`: an alert declared it, and nobody has acted on it yet; default: any',
  }),
  postmortem: repeated(z.enum(POSTMORTEMS)).meta({
    description: 'States of written post-mortems, and `none`: nobody has begun one; default: any',
  }),
  service_tier: repeated(key).meta({
    description: 'Keys of service tiers, for incidents whose service is in the catalog; default: any',
  }),
  effective_team_id: repeated(id).meta({
    description:
      "IDs of effective teams: an incident's own team or, without one, the team that owns its service; default: any",
  }),
  unassigned_team: z.boolean().optional().meta({
    description:
      'With a filter by team: also incidents without a team of their own; otherwise: only those; default: false',
    default: false,
  }),
  mine: z
    .boolean()
    .optional()
    .meta({ description: 'Must not be true: an API key has no incidents of its own; default: false', default: false }),
  active_only: z
    .boolean()
    .optional()
    .meta({ description: 'Only incidents with a status that is not terminal; default: false', default: false }),
  update_due: z.boolean().optional().meta({
    description:
      'true: only incidents whose next update is due, and that have not ended; false: without them; default: all incidents',
  }),
  duplicate: z
    .boolean()
    .optional()
    .meta({ description: 'true: only duplicates of other incidents; false: without them; default: all incidents' }),
  restricted: z
    .boolean()
    .optional()
    .meta({ description: 'true: only restricted incidents; false: without them; default: all that you may see' }),
  status_scope: z
    .string()
    .min(1)
    .max(2048)
    .optional()
    .meta({ description: '`all`, `nonterminal` or the key of one workflow status; default: all', default: 'all' }),
  diagnosis: repeated(z.enum(DIAGNOSES)).meta({
    description: "The state of an incident's investigation, by its latest run; default: any",
  }),
  sort: z.enum(SORT_KEYS).optional().meta({
    description:
      'What to sort by; `custom` needs sort_custom_field; archived incidents are always sorted by archived_at; default: created_at',
    default: 'created_at',
  }),
  direction: z
    .enum(['asc', 'desc'])
    .optional()
    .meta({ description: 'Applies to the sort key and to the ID, which breaks ties; default: desc', default: 'desc' }),
  sort_custom_field: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'Slug of an active custom field; required with sort=custom and only allowed then' }),
  custom_filter: z.array(boundedText(MAX_CUSTOM_FILTER)).max(MAX_CUSTOM_FILTERS).optional().meta({
    description:
      'JSON objects with slug (of a custom field), operator and value, such as `{"slug":"region","operator":"is","value":"eu"}`; an incident must meet all of them',
  }),
  include_counts: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the response has collection_counts; default: false', default: false }),
  impact_status: alternatives(z.enum(CUSTOMER_IMPACTS)).meta({
    description: 'Values of customer_impact_status; default: any',
  }),
  affected_customers_op: z.enum(COMPARISONS).optional().meta({
    description: 'How the number of affected customers compares with affected_customers_value; one requires the other',
  }),
  affected_customers_value: amount
    .optional()
    .meta({ description: 'A number of customers; incidents for which no number is known do not match' }),
  mrr_op: z.enum(COMPARISONS).optional().meta({
    description: 'How the monthly recurring revenue at stake compares with mrr_value; one requires the other',
  }),
  mrr_value: amount
    .optional()
    .meta({ description: 'An amount of revenue in minor units of the currency, such as cents' }),
  mrr_currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'Must be a currency code of three capital letters')
    .optional()
    .meta({
      description:
        'The currency of mrr_value: required with mrr_basis=source, otherwise the reporting currency at most',
    }),
  mrr_basis: z.enum(['normalized', 'source']).optional().meta({
    description:
      'normalized: compare all amounts in the reporting currency; source: those in mrr_currency; default: normalized',
    default: 'normalized',
  }),
});

const count = z.int().min(0);

/** A page of incidents. `has_more` and `next_cursor` are deprecated aliases of the members of `pagination`. */
export const listReply = z.strictObject({
  incidents: z.array(incident).meta({ description: 'The incidents of the page' }),
  pagination,
  has_more: z.boolean().meta({ deprecated: true, description: 'The same as pagination.has_more' }),
  next_cursor: z.string().optional().meta({ deprecated: true, description: 'The same as pagination.next_cursor' }),
  restricted_count: count.optional().meta({
    description:
      "Number of matching incidents that the workspace's history limit hides; 0 without a limit; absent if a search has too much text to count them",
  }),
  history_limited: z.boolean().meta({ description: 'Whether the workspace has a history limit' }),
  mrr_currency: z.string().meta({ description: "The workspace's reporting currency, a code of three letters" }),
  mrr_conversion_mode: z.enum(['normalized', 'source_only']).meta({
    description:
      '`normalized`: revenue is converted to the reporting currency; `source_only`: there are no exchange rates',
  }),
  mrr_projection_state: z.enum(['ready', 'stale', 'unavailable']).meta({
    description: '`stale`: a rate is missing or at least 24 hours old; `unavailable`: there are no exchange rates',
  }),
  supported_mrr_currencies: z
    .array(z.string())
    .meta({ description: 'The reporting currency and all currencies with an exchange rate' }),
  collection_counts: z
    .strictObject({
      matched: count.meta({ description: 'Incidents that pass all filters, on all pages' }),
      all: count.meta({ description: 'Incidents that pass all filters except status, status_scope and active_only' }),
      ongoing: count.meta({ description: 'Those of `all` whose status is not terminal' }),
      by_status: z
        .record(z.string(), count)
        .meta({ description: 'Those of `all` by status; every configured status is present' }),
    })
    .optional()
    .meta({ description: 'Numbers of incidents on all pages; absent unless include_counts is true' }),
});

/** The query parameters of statistics: the filters of lists, and the size of the buckets. */
export const statisticsQuery = listQuery
  .omit({ limit: true, cursor: true, sort: true, direction: true, sort_custom_field: true, include_counts: true })
  .extend({
    created_from: listQuery.shape.created_from.meta({
      description: `Incidents created then or later, at most ${MAX_BUCKETS} buckets before the end of the span; default: the start of the ${DEFAULT_BUCKETS} last buckets`,
    }),
    bucket: z.enum(BUCKETS).optional().meta({
      description: "What to count by, in the workspace's time zone; weeks start on Monday; default: day",
      default: 'day',
    }),
  });

export const durations = z
  .strictObject({
    incidents: count.meta({ description: 'Number of incidents of which the duration is known' }),
    derived: count.meta({
      description: 'Number of those for which nobody recorded the end, and another moment stands',
    }),
    median_seconds: count.meta({ description: 'Half of the durations are at most so long' }),
    p90_seconds: count.meta({ description: 'Nine tenths of the durations are at most so long' }),
    mean_seconds: count.meta({ description: 'The mean of the durations' }),
  })
  .nullable()
  .meta({ id: 'IncidentDurations', description: 'Durations of incidents in whole seconds; null: none is known' });

const measures = {
  time_to_response: durations.meta({
    description:
      'From the duration_anchor of an incident to first_responded_at or, without it, to first_acted_at; null: none is known',
  }),
  time_to_recovery: durations.meta({
    description:
      'From the duration_anchor of an incident to recovered_at or, without it, to the change into a terminal status; null: none is known',
  }),
};

const statistics = z
  .strictObject({
    bucket: z.enum(BUCKETS).meta({ description: 'The size of the buckets' }),
    time_zone: z
      .string()
      .meta({ description: 'Name of the time zone in which the buckets begin, in the IANA database' }),
    buckets: z
      .array(
        z.strictObject({
          starts_at: instant.meta({ description: 'When the bucket starts: midnight in the time zone' }),
          incidents: count.meta({ description: 'Number of incidents created in the bucket' }),
          by_severity: z
            .record(z.string(), count)
            .meta({ description: 'The same by severity; a severity without incidents is absent' }),
        }),
      )
      .meta({ description: 'All buckets of the span, the earliest one first' }),
    by_service: z
      .array(
        z.strictObject({
          service: z.string().meta({ description: 'Value of service of the incidents; empty: none' }),
          ...measures,
        }),
      )
      .meta({
        description: `Durations of the latest ${MAX_MEASURED} incidents by service, for the ${MAX_GROUPS} services with the most of them`,
      }),
    by_team: z
      .array(
        z.strictObject({
          team_id: z.int().nullable().meta({ description: 'ID of the team that owns the incidents; null: none' }),
          ...measures,
        }),
      )
      .meta({
        description: `Durations of the latest ${MAX_MEASURED} incidents by team, for the ${MAX_GROUPS} teams with the most of them`,
      }),
    all: z
      .strictObject(measures)
      .meta({ description: `Durations of the latest ${MAX_MEASURED} incidents, whatever their service and team` }),
  })
  .meta({ id: 'IncidentStatistics', description: 'Numbers and durations of the incidents of a span' });

export const statisticsReply = z.strictObject({
  statistics: schemaReference(statistics, 'The numbers and durations'),
});
