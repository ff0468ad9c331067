import { boundedText, KEY, nameText, timestampInput, trimmedText } from '@tocsin/schemas';
import { isTimeZone, TIME_ZONE_NAME, UTC } from '@tocsin/runtime';
import { z } from 'zod';
import { ON_CALL_LEADS } from './configuration.ts';
import { PLACEHOLDERS } from '@tocsin/schemas/postmortem-template';
import { faultOf, MAX_TEMPLATE_BYTES } from './postmortem-template.ts';

/** The entries of each list. With all of them, the document is not larger than a body may be. */
export const MAX_ENTRIES = {
  workflow_statuses: 100,
  severities: 50,
  service_tiers: 50,
  exchange_rates: 500,
  timeline_groups: 500,
  incident_roles: 20,
} as const;

const DEFAULT_COLOR = '#667085';

export const TIME_ZONE = `Name of a time zone in the IANA database, such as \`Europe/Berlin\`: days of statistics and of names of channels, and times without a zone in timeline imports, are in it; \`${UTC}\` until it is configured`;

export const ON_CALL_LEAD =
  'Whether who is on call for the team of a new incident leads it, unless the request names a lead: `off`; `suggest`: clients offer that; `set`: Tocsin does that, for alerts, too; `off` until it is configured';

export const POSTMORTEM_TEMPLATE = `Markdown of post-mortems, at most ${MAX_TEMPLATE_BYTES} bytes, in which these placeholders, each at most three times, stand for the parts: ${PLACEHOLDERS.map((name) => `\`{{${name}}}\``).join(', ')}; empty, as it is until it is configured: the built-in template`;

const flag = z.boolean().optional();
const entry = {
  key: z
    .string()
    .regex(KEY, 'Must be at most 64 lower-case letters, digits, hyphens and underscores')
    .meta({ description: 'Names the entry in requests and resources; unique in its list' }),
  label: nameText(128).meta({ description: 'The name for people; 1 to 128 characters after trimming' }),
  order: z.int().optional().meta({
    description: 'As the list has it; the place decides, so it may be left out, and numbers must rise with the place',
  }),
  is_default: flag.meta({
    description: 'Whether a new resource gets it if the request names none; exactly one entry has it',
    default: false,
  }),
};
const color = trimmedText(32)
  .optional()
  .meta({ description: 'A color for user interfaces, such as `#d92d20`', default: DEFAULT_COLOR });
const description = trimmedText(1_000).optional();

const status = z
  .strictObject({
    ...entry,
    is_terminal: flag.meta({ description: 'Whether an incident with this status has ended', default: false }),
    is_escalation_threshold: flag.meta({
      description: 'Whether the workspace escalates incidents from this status on; Tocsin itself does not',
      default: false,
    }),
    color,
  })
  .meta({ id: 'NewWorkflowStatus' });

const severity = z
  .strictObject({
    ...entry,
    min_score: z.number().min(0).meta({
      description: 'The lowest score that has this severity; not more than that of the severity before it',
    }),
    restricted: flag.meta({
      description: 'Whether a new incident with it is restricted unless the request says otherwise',
      default: false,
    }),
    description: description.meta({ description: 'When to choose it; at most 1,000 characters', default: '' }),
    color,
  })
  .meta({ id: 'NewSeverity' });

const tier = z
  .strictObject({
    ...entry,
    description: description.meta({ description: 'What the tier means; at most 1,000 characters', default: '' }),
  })
  .meta({ id: 'NewServiceTier' });

export const exchangeRate = z
  .strictObject({
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .meta({ description: 'Code of the currency by ISO 4217; unique in the list' }),
    rate: z.number().positive().meta({ description: 'Units of the reporting currency for one unit of this currency' }),
    as_of: timestampInput.meta({ description: 'When the rate was right' }),
  })
  .meta({ id: 'ExchangeRate' });

const timelineGroup = z
  .strictObject({
    id: z.int().min(1).optional().meta({
      description: 'ID of the group; without one, that of the stored group with this name, or a new one',
    }),
    name: entry.label,
  })
  .meta({ id: 'NewTimelineGroup' });

const incidentRole = z
  .strictObject({
    key: entry.key,
    label: entry.label,
    // With more, the largest document would not fit into a body.
    description: trimmedText(500)
      .optional()
      .meta({ description: 'What its holder does; at most 500 characters', default: '' }),
    several_holders: flag.meta({ description: 'Whether several people may hold it at once', default: false }),
  })
  .meta({ id: 'NewIncidentRole' });

/** A configuration as a client or a file gives it; each list replaces the stored list, in this order. */
export const configurationLists = {
  workflow_statuses: z.array(status).max(MAX_ENTRIES.workflow_statuses).optional().meta({
    minItems: 3,
    description: 'All statuses in workflow order, `resolved`, `closed` and `active` among them',
  }),
  severities: z
    .array(severity)
    .max(MAX_ENTRIES.severities)
    .optional()
    .meta({ minItems: 1, description: 'All severities, the most severe first' }),
  service_tiers: z
    .array(tier)
    .max(MAX_ENTRIES.service_tiers)
    .optional()
    .meta({ minItems: 1, description: 'All tiers of services, the most important first' }),
  exchange_rates: z
    .array(exchangeRate)
    .max(MAX_ENTRIES.exchange_rates)
    .optional()
    .meta({ description: 'The exchange rates with which revenue at stake is converted' }),
  timeline_groups: z
    .array(timelineGroup)
    .max(MAX_ENTRIES.timeline_groups)
    .optional()
    .meta({ description: 'The groups of timeline events, in their order' }),
  incident_roles: z
    .array(incidentRole)
    .max(MAX_ENTRIES.incident_roles)
    .optional()
    .meta({ description: 'The roles in a response, beside manager and responders, in their order' }),
  time_zone: boundedText(64)
    .refine(isTimeZone, 'Must be the name of a time zone in the IANA database, such as Europe/Berlin, or UTC')
    .optional()
    .meta({ description: TIME_ZONE, minLength: 3, pattern: TIME_ZONE_NAME.source.replaceAll('\\/', '/') }),
  on_call_lead: z.enum(ON_CALL_LEADS).optional().meta({ description: ON_CALL_LEAD }),
  postmortem_template: boundedText(MAX_TEMPLATE_BYTES)
    .refine((template) => faultOf(template) === undefined, {
      error: ({ input }) => faultOf(input as string) ?? 'Must be a template',
    })
    .optional()
    .meta({ description: POSTMORTEM_TEMPLATE }),
};

/** A workspace's configuration file. */
export const configurationFile = z.strictObject(configurationLists);
export type GivenLists = z.output<typeof configurationFile>;
type Given<Name extends keyof typeof MAX_ENTRIES> = NonNullable<GivenLists[Name]>[number];

const withDefaults = ({ key, label, is_default = false }: Given<'service_tiers'>) => ({
  key,
  label: label.trim(),
  is_default,
});

/** Fills in the defaults, and trims. `order` follows from the place. */
export const normalise = {
  workflow_statuses: ({
    is_terminal = false,
    is_escalation_threshold = false,
    color: given = DEFAULT_COLOR,
    ...entry
  }: Given<'workflow_statuses'>) => ({
    ...withDefaults(entry),
    is_terminal,
    is_escalation_threshold,
    color: given.trim(),
  }),
  severities: ({
    min_score,
    restricted = false,
    description: text = '',
    color: given = DEFAULT_COLOR,
    ...entry
  }: Given<'severities'>) => ({
    ...withDefaults(entry),
    min_score,
    restricted,
    description: text.trim(),
    color: given.trim(),
  }),
  service_tiers: ({ description: text = '', ...entry }: Given<'service_tiers'>) => ({
    ...withDefaults(entry),
    description: text.trim(),
  }),
  timeline_groups: ({ name, ...entry }: Given<'timeline_groups'>) => ({ ...entry, name: name.trim() }),
  incident_roles: ({ key, label, description: text = '', several_holders = false }: Given<'incident_roles'>) => ({
    key,
    label: label.trim(),
    description: text.trim(),
    several_holders,
  }),
};
