import { type Contracts, endpoint, type Handlers, pathId } from '@tocsin/http';
import { z } from 'zod';
import { deliveryPage, deliveryQuery, deliveryReply, wholeDeliveryReply } from './wire.ts';

const DELIVERIES = '/api/v1/settings/webhook-deliveries';
const DELIVERY = `${DELIVERIES}/{id}`;

const manage = { tag: 'Webhooks', scope: 'webhooks:manage', needs: ['manage_settings'] } as const;
const params = z.strictObject({ id: pathId.meta({ description: 'ID of the delivery' }) });

/** contract: Deliveries */
export const deliveryContracts = {
  listWebhookDeliveries: {
    ...endpoint('GET', DELIVERIES, 'List the deliveries of webhooks'),
    ...manage,
    query: deliveryQuery,
    cost: { base: 2 },
    reply: { status: 200, body: deliveryPage },
  },
  getWebhookDelivery: {
    ...endpoint('GET', DELIVERY, 'Get a delivery with its body and its attempts'),
    ...manage,
    params,
    reply: { status: 200, body: wholeDeliveryReply },
  },
  redeliverWebhook: {
    ...endpoint('POST', `${DELIVERY}/redeliver`, 'Deliver an event to a webhook again'),
    ...manage,
    errors: ['invalid_resource_state'],
    params,
    reply: { status: 202, body: deliveryReply, assigned: ['delivery.id'] },
  },
} as const satisfies Contracts;

export type DeliveryApi = Handlers<typeof deliveryContracts>;
