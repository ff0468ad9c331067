import { boundedText, instant } from '@tocsin/schemas';
import { pageQuery, pagination, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { DELIVERY_STATUSES } from '../../queue/domain/delivery.ts';

const id = z.int().min(1);
const status = z.enum(DELIVERY_STATUSES);
const UUID = /^[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}$/;

const properties = {
  id: id.meta({ description: 'Identifies the delivery in paths' }),
  webhook_id: z.string().meta({ description: 'ID of the subscription' }),
  event_id: z.string().meta({ description: "The event's ID, also in `webhook-id`; redeliveries have the same" }),
  event_type: z.string().meta({ description: 'The type of the event' }),
  incident: z.string().nullable().meta({ description: "The incident's reference, such as `INC-4`; null: emptied" }),
  status: status.meta({
    description:
      '`queued`: it waits for an attempt, or one is under way; `held`: it waits until the subscription is resumed; `cancelled`: the subscription was revoked, or must not get the incident',
  }),
  attempts: z.int().min(0).meta({ description: 'How many attempts were made, the one under way included' }),
  last_error: z.string().nullable().meta({
    description:
      'Why it has not succeeded yet, from a fixed list: `status`, `timeout`, `connection`, `tls`, `dns`, `blocked_address`, `body_too_large`, `proxy`, `undecryptable` or `internal`; null: nothing has failed, or it has succeeded',
  }),
  last_status: z.int().nullable().meta({ description: 'The HTTP status of the latest answer; null: there was none' }),
  queued_at: instant.meta({ description: 'When it was queued' }),
  due_at: instant.nullable().meta({
    description:
      'When the next attempt is due; while one is under way, when it is given up at the latest; null: finished',
  }),
  finished_at: instant.nullable().meta({ description: 'When it succeeded, failed or was cancelled; null: it waits' }),
  redelivery: z.int().min(0).meta({ description: '0: the first delivery of the event to the subscription' }),
  requested_by: z.string().nullable().meta({
    description: 'ID, as text, of the user who asked for the redelivery, or `operator`; null: nobody, it is the first',
  }),
};

const delivery = z.strictObject(properties).meta({ id: 'WebhookDelivery' });
export type DeliveryWire = z.infer<typeof delivery>;

const attempt = z
  .strictObject({
    number: id.meta({ description: 'Counts the attempts of the delivery; one that a crash interrupted is missing' }),
    started_at: instant.meta({ description: 'When it began' }),
    duration_ms: z.int().meta({ description: 'Milliseconds, from the look-up of the name to the last byte' }),
    result: z.string().meta({
      description:
        '`succeeded`; `deferred`: no request was sent, because the address has had as many as it may get; or why it failed, as in `last_error`',
    }),
    status: z.int().nullable().meta({ description: 'The HTTP status of the answer; null: there was none' }),
    answer: z.string().nullable().meta({
      description:
        'The first 1,024 characters of what the receiver answered; what is no text is replaced, and headers and path of the request are hidden; null: nothing',
    }),
  })
  .meta({ id: 'WebhookAttempt' });

const wholeDelivery = z
  .strictObject({
    ...properties,
    body: z.string().meta({ description: 'The exact text that is sent' }),
  })
  .meta({ id: 'WholeWebhookDelivery' });

export const deliveryReply = z.strictObject({ delivery: schemaReference(delivery, 'The delivery that is queued') });
export const wholeDeliveryReply = z.strictObject({
  delivery: schemaReference(wholeDelivery, 'The delivery'),
  attempts: z.array(attempt).meta({ description: 'Its attempts that have ended, oldest first: 8 at most' }),
});
export const deliveryPage = z.strictObject({
  deliveries: z.array(delivery).meta({ description: 'The deliveries of the page, newest first' }),
  pagination,
});

export const deliveryQuery = z.strictObject({
  ...pageQuery,
  webhook_id: boundedText(64).min(1).optional().meta({
    description: 'ID of a subscription; an unknown one matches nothing; default: any',
  }),
  status: status.optional().meta({ description: 'Deliveries in this state; default: any' }),
  event_id: z.string().regex(UUID, 'Must be a UUID').optional().meta({
    description: 'ID of an event; an unknown one matches nothing; default: any',
  }),
});
