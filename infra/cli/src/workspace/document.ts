import { z } from 'zod';

/** The schema of a file of the workspace: the properties of the API, with slugs and emails in place of IDs. */

const text = z.string();
const flag = z.boolean();
const slug = text.min(1).describe('Names it; permanent');
const name = text.min(1).describe('The name for people; required for a new one').optional();
const description = text.nullable().describe('A text for people; null: none').optional();
const externalId = text.min(1).nullable().describe('Its ID in another system; null: none').optional();
const texts = z.array(text).optional();
const email = text.regex(/@/, 'Must be an email address');

const entry = {
  key: text.min(1).describe('Names the entry; unique in its list'),
  label: text.min(1).describe('The name for people'),
  order: z.int().describe('May be left out: the place in the list decides').optional(),
  is_default: flag.describe('Whether a new resource gets it if the request names none; one entry has it').optional(),
};
const color = text.describe('Such as #d92d20').optional();

/** Of the configuration, what a workspace has. */
export const configurationLists = z
  .strictObject({
    workflow_statuses: z.array(
      z.strictObject({ ...entry, is_terminal: flag.optional(), is_escalation_threshold: flag.optional(), color }),
    ),
    severities: z.array(
      z.strictObject({
        ...entry,
        min_score: z.number(),
        restricted: flag.optional(),
        description: text.optional(),
        color,
      }),
    ),
    service_tiers: z.array(z.strictObject({ ...entry, description: text.optional() })),
    exchange_rates: z.array(z.strictObject({ currency: text, rate: z.number(), as_of: text })),
    timeline_groups: z.array(
      z.strictObject({ id: z.int().describe('May be left out: the name decides').optional(), name: text }),
    ),
    incident_roles: z.array(
      z.strictObject({
        key: entry.key,
        label: entry.label,
        description: text.optional(),
        several_holders: flag.optional(),
      }),
    ),
    time_zone: text.describe('Such as Europe/Berlin'),
    on_call_lead: z.enum(['off', 'suggest', 'set']).describe('Whether who is on call leads new incidents'),
    postmortem_template: text.describe('Markdown of post-mortems, with placeholders; empty: the built-in one'),
  })
  .partial();

const replacements = z.record(text, text).optional();

const configuration = configurationLists
  .extend({
    revision: z.int().describe('Differences are refused if the workspace has another one').optional(),
    replace: z
      .strictObject({ statuses: replacements, severities: replacements })
      .describe('What incidents get in place of removed keys, by these')
      .optional(),
  })
  .describe('Each list that is here is the whole list');

const user = z.strictObject({
  email,
  name,
  role: z.enum(['owner', 'admin', 'manager', 'member', 'viewer']).optional(),
  seat: z.enum(['responder', 'none']).optional(),
  active: flag.describe('false: the keys of the user are invalid').optional(),
});

const member = z.strictObject({ email, role: z.enum(['member', 'lead']).optional() });

const team = z.strictObject({
  slug,
  name,
  description,
  parent: text.nullable().describe('The slug of the team above; null: none').optional(),
  external_id: externalId,
  members: z.array(member).describe('Others stay members, unless they are pruned').optional(),
});

const service = z.strictObject({
  slug,
  name,
  description,
  owner_team: text.nullable().describe('The slug of the team that owns it; null: none').optional(),
  tier: text.describe('The key of a service tier').optional(),
  tags: texts,
  external_id: externalId,
  runbook_url: text.nullable().describe('Where to read what to do; null: none').optional(),
  observability_names: texts,
});

const FIELD_TYPES = [
  ...(['string', 'number', 'boolean', 'date', 'time', 'datetime'] as const),
  ...(['monetary', 'json', 'select', 'multi_select'] as const),
] as const;

const field = z.strictObject({
  slug,
  name,
  field_type: z.enum(FIELD_TYPES).describe('Permanent; required for a new one').optional(),
  description,
  default_value: z.unknown().describe('Of a new incident; null: none').optional(),
  config: z
    .strictObject({
      max_length: z.int(),
      min: z.number(),
      max: z.number(),
      precision: z.int(),
      currency: text,
      currencies: z.array(text),
      options: z.array(
        z.union([text, z.strictObject({ value: text, label: text.optional(), color: text.optional() })], {
          error: 'Must be a text, or an object with value, label and color',
        }),
      ),
      allow_custom: flag,
    })
    .partial()
    .nullable()
    .describe('Rules for the values, as a whole; null: none')
    .optional(),
  required: flag.optional(),
  sort_order: z.int().describe('The place in lists').optional(),
  category: z.enum(['context', 'impact', 'analysis', 'external', 'custom']).optional(),
  visibility_level: z.enum(['always', 'prominent', 'standard', 'collapsed']).optional(),
  show_on_creation: flag.optional(),
  required_on_creation: flag.optional(),
  auto_add_to_layout: flag.optional(),
  external_id: externalId,
  external_source: text.nullable().optional(),
});

const webhook = z.strictObject({
  name: text.min(1).describe('Names it; permanent'),
  url: text.describe('Permanent; the API shows only scheme and host').optional(),
  event_types: texts,
  include_restricted: flag.describe('Whether it gets restricted incidents, too; permanent').optional(),
});

const KINDS_OF_DESTINATIONS = [
  ...(['slack', 'slack_app', 'teams', 'google_chat', 'discord', 'mattermost', 'ntfy'] as const),
  ...(['email', 'pagerduty', 'goalert', 'http'] as const),
] as const;
const variable = text.regex(/^[A-Z_a-z]\w*$/, 'Must be the name of an environment variable');

const destination = z.strictObject({
  name: text.min(1).describe('Names it; permanent'),
  kind: z.enum(KINDS_OF_DESTINATIONS).describe('Permanent; required for a new one').optional(),
  url_env: variable
    .describe('The environment variable that has the URL; the API shows only scheme and host')
    .optional(),
  credential_env: variable
    .describe('The environment variable that has the credential, which is never shown')
    .optional(),
  recipients: texts
    .describe('Of the kind email: addresses of active users; of slack_app: the ID of a channel')
    .optional(),
  filters: z
    .strictObject({
      ...{ event_types: texts, timeline_types: texts, severities: texts, statuses: texts },
      ...{ services: texts, teams: texts.describe('Slugs'), roles: texts },
    })
    .describe('Which events it gets, as a whole; an absent or an empty list selects all')
    .optional(),
  template: text.min(1).nullable().describe('Makes the text of an event; null: the text of Tocsin').optional(),
  include_restricted: flag.describe('Whether it gets restricted incidents, too').optional(),
});

export const workspaceDocument = z.strictObject({
  configuration: configuration.optional(),
  users: z.array(user).optional(),
  teams: z.array(team).optional(),
  services: z.array(service).optional(),
  fields: z.array(field).optional(),
  webhooks: z.array(webhook).optional(),
  destinations: z.array(destination).optional(),
});

/** What a file, or a catalog of another system, wants a workspace to have. What it does not have stays as it is. */
export type WorkspaceDocument = z.infer<typeof workspaceDocument>;

/** The lists of a document, whose entries have an identity. */
export type ListName = Exclude<keyof WorkspaceDocument, 'configuration'>;

/** A document, and where its values are: `services.yaml:12:5` for `['services', 3, 'owner_team']`. */
export interface LoadedDocument {
  document: WorkspaceDocument;
  placeOf(path: readonly PropertyKey[]): string;
  /** Lists that the catalog may have more of than could be read. */
  incomplete?: ReadonlySet<string>;
}
