import { timestampInput } from '@tocsin/contracts';
import { pageQuery, pagination } from '@tocsin/http';
import { z } from 'zod';
import { DIAGNOSES } from '../domain/diagnosis.ts';
import { CUSTOMER_IMPACTS } from '../domain/incident.ts';
import { COMPARISONS, LIFECYCLES } from '../domain/list-filters.ts';
import { SORT_KEYS } from '../domain/list-sort.ts';
import { incident } from './wire.ts';

const MAX_ITEMS = 100;
const MAX_CUSTOM_FILTERS = 32;

const key = z.string().min(1);
const id = z.int().min(1);
const amount = z.int().min(0);
const repeated = <Item extends z.ZodType>(item: Item) => z.array(item).max(MAX_ITEMS).optional();

/** The query parameters of lists of incidents (contract: Incident lists). Repeated values are alternatives. */
export const listQuery = z.strictObject({
  ...pageQuery,
  scope: z.enum(['all', 'postmortem']).optional(),
  status: z.array(key).optional(),
  severity: z.array(key).optional(),
  service: z.array(key).optional().meta({ description: 'Slugs' }),
  team_id: z.array(id).optional().meta({ description: "IDs of incidents' own teams" }),
  created_from: timestampInput.optional().meta({ description: 'Inclusive' }),
  created_to: timestampInput.optional().meta({ description: 'Inclusive' }),
  created_before: timestampInput.optional().meta({ description: 'Exclusive; not allowed with created_to' }),
  region: repeated(z.string()).meta({ description: 'Case-insensitive' }),
  lifecycle: repeated(z.enum(LIFECYCLES)),
  service_tier: repeated(key),
  effective_team_id: repeated(id).meta({
    description: "IDs of effective teams: an incident's own team or, without one, the team that owns its service",
  }),
  unassigned_team: z.boolean().optional().meta({ description: 'Also incidents without a team of their own' }),
  mine: z.boolean().optional().meta({ description: 'Not allowed with an API key' }),
  active_only: z.boolean().optional().meta({ description: 'Only statuses that are not terminal' }),
  status_scope: z.string().min(1).max(2048).optional().meta({ description: 'all, nonterminal or the key of a status' }),
  diagnosis: repeated(z.enum(DIAGNOSES)),
  sort: z.enum(SORT_KEYS).optional().meta({ description: 'Default: created_at' }),
  direction: z
    .enum(['asc', 'desc'])
    .optional()
    .meta({ description: 'Of the sort key and of the ID, which breaks ties; default: desc' }),
  sort_custom_field: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'The slug of a field; only allowed with sort=custom' }),
  custom_filter: z
    .array(z.string())
    .max(MAX_CUSTOM_FILTERS)
    .optional()
    .meta({ description: 'JSON objects with slug, operator and value; incidents must meet all of them' }),
  include_counts: z.boolean().optional(),
  impact_status: z.array(z.enum(CUSTOMER_IMPACTS)).optional(),
  affected_customers_op: z.enum(COMPARISONS).optional(),
  affected_customers_value: amount.optional(),
  mrr_op: z.enum(COMPARISONS).optional(),
  mrr_value: amount.optional().meta({ description: 'In minor units of the currency' }),
  mrr_currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'Must be three capital letters')
    .optional(),
  mrr_basis: z.enum(['normalized', 'source']).optional().meta({
    description:
      'normalized: compare all amounts in the reporting currency; source: those in mrr_currency; default: normalized',
  }),
});

const count = z.int().min(0);

/** A page of incidents. `has_more` and `next_cursor` are deprecated aliases of the members of `pagination`. */
export const listReply = z.strictObject({
  incidents: z.array(incident),
  pagination,
  has_more: z.boolean().meta({ deprecated: true }),
  next_cursor: z.string().optional().meta({ deprecated: true }),
  restricted_count: count.optional(),
  history_limited: z.boolean(),
  mrr_currency: z.string(),
  mrr_conversion_mode: z.enum(['normalized', 'source_only']),
  mrr_projection_state: z.enum(['ready', 'stale', 'unavailable']),
  supported_mrr_currencies: z.array(z.string()),
  collection_counts: z
    .strictObject({ matched: count, all: count, ongoing: count, by_status: z.record(z.string(), count) })
    .optional(),
});
