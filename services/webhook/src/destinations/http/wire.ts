import { boundedText, FEED_TYPES, instant, nameText, uniqueList } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { CALLED_STATUSES } from '@tocsin/safe-http';
import { z } from 'zod';
import { URL_PATTERN } from '../../subscriptions/domain/receiver-url.ts';
import { headers } from '../../subscriptions/http/wire.ts';
import { KINDS, MAX_RECIPIENTS } from '../domain/destination.ts';

const MAX_NAME = 128;
const MAX_TEMPLATE = 4_000;
const MAX_EMAIL = 254;
/** Values of one filter. */
const MAX_VALUES = 100;

const unique = <Value extends z.ZodType>(value: Value) => uniqueList(value, MAX_VALUES);
const keys = unique(boundedText(128).min(1));

const filters = z
  .strictObject({
    event_types: unique(z.enum(FEED_TYPES)).optional().meta({ description: 'Types of events', default: [] }),
    timeline_types: keys.optional().meta({
      description: 'Types of timeline events, such as `update`; other events are sent whatever it says',
      default: [],
    }),
    severities: keys.optional().meta({ description: 'Keys of severities, before or after the change', default: [] }),
    statuses: keys.optional().meta({ description: 'Keys of statuses, before or after the change', default: [] }),
    services: keys.optional().meta({ description: 'Slugs of services', default: [] }),
    team_ids: unique(z.int().min(1)).optional().meta({
      description: 'IDs of teams: of the incident, or of the owner of its service',
      default: [],
    }),
    roles: keys.optional().meta({
      description: 'Roles that somebody has in the incident (`scribe`), or that a user has (`scribe:7`)',
      default: [],
    }),
  })
  .meta({ id: 'DestinationFilters' });

const filtersReference = schemaReference(
  filters,
  'Which events are sent: those that meet all filters; an empty list selects all. With a severity, status or role, only events of incidents are',
);

/** A destination (contract: Destinations). All properties are always present. */
const destination = z
  .strictObject({
    id: z.int().min(1).meta({ description: 'ID of the destination' }),
    revision: z.int().min(1).meta({ description: 'Starts at 1 and increases with every change; a PATCH must send it' }),
    name: z.string().meta({ description: 'What its users call it; unique among those that are not archived' }),
    kind: z.enum(KINDS).meta({ description: 'What receives the messages' }),
    url: z.string().meta({ description: 'Scheme and host; the rest is never shown; empty: the kind has none' }),
    has_credential: z.boolean().meta({ description: 'Whether it has a key or a token, which is never shown' }),
    header_names: z.array(z.string()).meta({ description: 'Names of further headers; their values are never shown' }),
    recipients: z
      .array(z.string())
      .meta({ description: 'Email addresses of active users; of `slack_app`, the ID of a channel' }),
    filters: filtersReference,
    template: z.string().nullable().meta({ description: 'Makes the text of an event; null: the text of Tocsin' }),
    include_restricted: z.boolean().meta({ description: 'Whether it gets restricted incidents, too' }),
    status: z.enum(CALLED_STATUSES).meta({
      description:
        '`failing`: messages do not arrive, and are tried again; `paused`: nothing is sent; `archived` is final',
    }),
    last_success_at: instant.nullable().meta({ description: 'When a message last arrived; null: none has' }),
    last_failure: z
      .strictObject({
        at: instant.meta({ description: 'When it was' }),
        reason: z.string().meta({ description: '`status`, or why there was no answer, such as `timeout` or `dns`' }),
        status: z.int().nullable().meta({ description: 'The HTTP status of the answer; null: there was none' }),
      })
      .nullable()
      .meta({ description: 'The latest message that did not arrive; null: there was none' }),
    retry_at: instant
      .nullable()
      .meta({ description: 'From when on a failing one is tried again; null: it is not failing' }),
    left_out: z.int().min(0).meta({ description: 'Events that the receiver has refused, each sent alone' }),
    created_at: instant.meta({ description: 'When it was created' }),
    updated_at: instant.meta({ description: 'When its settings last changed' }),
    archived_at: instant.nullable().meta({ description: 'When it was archived; null: it is not' }),
  })
  .meta({ id: 'Destination' });

export type DestinationWire = z.infer<typeof destination>;

const current = schemaReference(destination, 'The destination as it is after the request');

export const destinationReply = z.strictObject({ destination: current });

export const destinationList = z.strictObject({
  destinations: z.array(destination).meta({ description: 'All that are not archived, oldest first: 20 at most' }),
});

const settings = {
  url: z.string().max(2048).meta({
    format: 'uri',
    pattern: URL_PATTERN,
    description:
      'Absolute https URL: of the incoming webhook of a chat, of the topic of ntfy, of the integration of GoAlert, of a receiver of JSON, or another one of PagerDuty. It is never shown again',
  }),
  credential: boundedText(1024).min(1).meta({
    description:
      'The routing key of PagerDuty, the access token of ntfy, or the key that signs requests of the kind `http`; never shown again',
  }),
  recipients: z.array(boundedText(MAX_EMAIL).min(3)).max(MAX_RECIPIENTS).meta({
    description:
      'Of the kind `email`, addresses of active users of the workspace; of `slack_app`, the ID of one channel, such as `C0123ABCD`',
  }),
  headers: headers.meta({ description: 'Headers that requests of the kind `http` have; values are never shown again' }),
  filters: filtersReference,
  template: boundedText(MAX_TEMPLATE).min(1).nullable().meta({
    description:
      'Makes the text of an event, or the JSON of the kind `http`, with the markup of the receiver and placeholders such as `{{title}}`; null: the text of Tocsin',
  }),
  include_restricted: z.boolean().meta({
    description:
      'Whether restricted incidents are sent, too: true needs the scope `restricted:read` and the permission `view_restricted`, as do later changes other than pause and archive. Whoever reads the messages sees them',
  }),
};

const name = nameText(MAX_NAME).meta({
  description: 'A name, unique among the destinations that are not archived; trimmed',
});

export const newDestination = z
  .strictObject({
    name,
    kind: z.enum(KINDS).meta({ description: 'What receives the messages; it does not change' }),
    url: settings.url.optional(),
    credential: settings.credential.optional(),
    recipients: settings.recipients.optional(),
    headers: settings.headers.optional(),
    filters: settings.filters.optional(),
    template: settings.template.optional(),
    include_restricted: settings.include_restricted.optional(),
  })
  .meta({ id: 'NewDestination' });

export const destinationPatch = z
  .strictObject({
    name: name.optional(),
    url: settings.url.optional(),
    credential: settings.credential.nullable().optional().meta({
      description: 'Another key or token, where the kind has one; null: none; never shown again',
    }),
    recipients: settings.recipients.optional(),
    headers: settings.headers.optional(),
    filters: settings.filters.optional(),
    template: settings.template.optional(),
    include_restricted: settings.include_restricted.optional(),
  })
  .meta({ id: 'DestinationPatch' });

export const testReply = z
  .strictObject({
    test: z
      .strictObject({
        is_accepted: z.boolean().meta({ description: 'Whether the receiver has accepted the message' }),
        reason: z.string().nullable().meta({
          description: 'Why not: `status`, or why there was no answer, such as `timeout` or `dns`; null: it has',
        }),
        status: z.int().nullable().meta({ description: 'The HTTP status of the answer; null: there was none' }),
        answer: z.string().meta({ description: 'The beginning of what the receiver said; empty: nothing' }),
      })
      .meta({ description: 'What came of the test' }),
  })
  .meta({ id: 'DestinationTest' });
