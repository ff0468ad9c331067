import { instant } from '@tocsin/contracts';
import { z } from 'zod';
import { EVENT_TYPES, STATUSES } from '../domain/subscription.ts';

/** More than there are, so that duplicates are reported as such. */
const MAX_EVENT_TYPES = 100;
const eventTypes = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .max(MAX_EVENT_TYPES)
  .refine((types) => new Set(types).size === types.length, 'Must not contain duplicates');

/** A webhook subscription (contract: Webhooks). All properties are always present. */
export const webhook = z
  .strictObject({
    id: z.string(),
    url: z.string().meta({ description: 'Scheme and host of the receiver; the rest is never shown' }),
    event_types: eventTypes,
    status: z.enum(STATUSES),
    created_at: instant,
    updated_at: instant,
    last_success_at: instant.nullable(),
    last_failure_at: instant.nullable(),
  })
  .meta({ id: 'Webhook' });

export type WebhookWire = z.infer<typeof webhook>;

export const webhookReply = z.strictObject({ webhook });

/** `webhookReply` with the new secret, which no other response contains. */
export const secretReply = z.strictObject({
  webhook,
  secret: z.string().meta({ description: 'Signs deliveries; it is not shown again' }),
});

export const webhookList = z.strictObject({ webhooks: z.array(webhook) });

export const newWebhook = z
  .strictObject({
    url: z
      .string()
      .max(2048)
      .meta({ description: 'Absolute https URL of the receiver, on port 443 of a public address' }),
    event_types: eventTypes.optional(),
  })
  .meta({ id: 'NewWebhook' });
