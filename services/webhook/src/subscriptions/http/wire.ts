import { instant, nameText, uniqueList } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import {
  HEADER_NAME,
  HEADER_NAME_PATTERN,
  HEADER_VALUE,
  MAX_HEADER_VALUE,
  MAX_HEADERS,
} from '../../requests/domain/destination.ts';
import { URL_PATTERN } from '../domain/receiver-url.ts';
import { EVENT_TYPES, STATUSES } from '../domain/subscription.ts';

/** More than there are, so that duplicates are reported as such. */
const MAX_EVENT_TYPES = 100;
/** contract: Webhooks */
const MAX_NAME = 128;
const eventTypes = uniqueList(z.enum(EVENT_TYPES), MAX_EVENT_TYPES).min(1);

/** A webhook subscription (contract: Webhooks). All properties are always present. */
const webhook = z
  .strictObject({
    id: z.string().meta({ description: 'Identifies the subscription in paths' }),
    name: z.string().nullable().meta({ description: 'What its users call it; null: it has no name' }),
    url: z.string().meta({ description: 'Scheme and host of the receiver; the rest is never shown' }),
    event_types: eventTypes.meta({ description: 'The types of events that are sent' }),
    header_names: z.array(z.string()).meta({
      description: "Names of the headers of the receiver's own that requests have; their values are never shown",
    }),
    include_restricted: z
      .boolean()
      .meta({ description: 'Whether it gets restricted incidents, too; set when it is created' }),
    status: z.enum(STATUSES).meta({
      description:
        'Only `active` subscriptions get new events; a new one is `paused` until it is verified; `revoked` is final',
    }),
    created_at: instant.meta({ description: 'When the subscription was created' }),
    updated_at: instant.meta({ description: 'When the subscription or its secret last changed' }),
    last_success_at: instant
      .nullable()
      .meta({ description: 'When a request to the receiver last succeeded; null: never' }),
    last_failure_at: instant
      .nullable()
      .meta({ description: 'When a request to the receiver last failed; null: never' }),
  })
  .meta({ id: 'Webhook' });

export type WebhookWire = z.infer<typeof webhook>;

const current = schemaReference(webhook, 'The subscription as it is after the request');

export const webhookReply = z.strictObject({ webhook: current });

/** `webhookReply` with the new secret, which no other response contains. */
export const secretReply = z.strictObject({
  webhook: current,
  secret: z
    .string()
    .meta({ description: 'The key of the signatures, as a whole with its prefix `whsec_`; it is not shown again' }),
});

const testOutcome = z
  .strictObject({
    result: z.string().meta({ description: '`succeeded`, or why it failed, such as `status`, `timeout` or `dns`' }),
    status: z.int().nullable().meta({ description: 'The HTTP status of the answer; null: there was none' }),
    duration_ms: z.int().meta({ description: 'Milliseconds, from the look-up of the name to the last byte' }),
    answer: z.string().nullable().meta({
      description: 'The first 1,024 characters of what the receiver answered, as of a delivery; null: nothing',
    }),
  })
  .meta({ id: 'WebhookTest' });

export const testReply = z.strictObject({ outcome: schemaReference(testOutcome, 'What came of the test') });

export const webhookList = z.strictObject({
  webhooks: z
    .array(webhook)
    .meta({ description: 'All active and paused subscriptions, and the latest revoked ones: 1,000 at most' }),
});

const headerName = z.string().regex(HEADER_NAME, {
  error: 'Must have Authorization or names that begin with X-, and none that proxies set or that change the method',
});
const HEADER_VALUE_FORM = `Must be 1 to ${MAX_HEADER_VALUE} visible ASCII characters, with spaces between them`;
const headerValue = z
  .string()
  .max(MAX_HEADER_VALUE, { error: HEADER_VALUE_FORM, abort: true })
  .regex(HEADER_VALUE, { error: HEADER_VALUE_FORM });

export const headers = z
  .record(headerName, headerValue)
  .refine((given) => Object.keys(given).length <= MAX_HEADERS, `Must have at most ${MAX_HEADERS} headers`)
  .refine(
    (given) => new Set(Object.keys(given).map((name) => name.toLowerCase())).size === Object.keys(given).length,
    'Must not have a header twice, in whatever case of letters',
  )
  .meta({ maxProperties: MAX_HEADERS, propertyNames: { pattern: HEADER_NAME_PATTERN } });

export const newHeaders = z
  .strictObject({
    headers: headers.meta({
      description:
        "All headers of the receiver's own, by name: `Authorization`, or names that begin with `X-`; empty: none. Values are never shown again",
    }),
  })
  .meta({ id: 'WebhookHeaders' });

export const newWebhook = z
  .strictObject({
    url: z.string().max(2048).meta({
      format: 'uri',
      pattern: URL_PATTERN,
      description:
        'Absolute https URL of the receiver, on port 443 of a public address or in a network that the operator has opened, without credentials or fragment',
    }),
    name: nameText(MAX_NAME).nullable().optional().meta({
      description: 'A name, to tell the subscription from others on the same host; trimmed; null or absent: none',
    }),
    event_types: eventTypes.optional().meta({
      description: 'The types of events to send, without duplicates; default: all',
      default: [...EVENT_TYPES],
    }),
    headers: headers.optional().meta({
      description:
        'Headers that requests to the receiver have, such as what a gateway before it asks for, by name: `Authorization`, or names that begin with `X-`. Values are never shown again',
      default: {},
    }),
    include_restricted: z.boolean().optional().meta({
      description:
        'Whether restricted incidents are sent, too: true needs the scope `restricted:read` and the permission `view_restricted`, as do later changes of the subscription other than pause and revoke. Whoever reads what the receiver gets sees them',
      default: false,
    }),
  })
  .meta({ id: 'NewWebhook' });
