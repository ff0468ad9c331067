import { type Contracts, DEFAULT_DEADLINE, endpoint, type Handlers } from '@tocsin/http';
import { z } from 'zod';
import { FEED_SCOPES } from '../feed/domain/feed-types.ts';
import { feedEvent } from '../feed/http/event-wire.ts';
import { feedQuery, feedReply, MAX_WAIT } from '../feed/http/wire.ts';
import { newWebhook, secretReply, webhookList, webhookReply } from '../subscriptions/http/wire.ts';

const WEBHOOKS = '/api/v1/settings/webhooks';
const WEBHOOK = `${WEBHOOKS}/{id}`;

const manage = { tag: 'Webhooks', scope: 'webhooks:manage', needs: ['manage_settings'] } as const;
/** Fails in a state of the subscription, or with a number of them, that does not allow the operation. */
const change = { ...manage, errors: ['invalid_resource_state'] } as const;
// IDs have no pattern: a malformed ID is 404, like one that does not exist.
const params = z.strictObject({ id: z.string().meta({ description: 'ID of the subscription' }) });
const webhook = { status: 200, body: webhookReply } as const;

/** The API of the webhook service (contract: Webhooks, Event feed). */
export const contracts = {
  listEvents: {
    ...endpoint('GET', '/api/v1/events', 'Read the event feed'),
    tag: 'Event feed',
    scope: FEED_SCOPES,
    errors: ['cursor_expired'],
    cost: { base: 2 },
    query: feedQuery,
    wait: 1_000 * MAX_WAIT,
    deadline: 1_000 * MAX_WAIT + DEFAULT_DEADLINE,
    reply: { status: 200, body: feedReply },
    stream: feedEvent,
  },
  listWebhooks: {
    ...endpoint('GET', WEBHOOKS, 'List webhook subscriptions'),
    ...manage,
    reply: { status: 200, body: webhookList },
  },
  createWebhook: {
    ...endpoint('POST', WEBHOOKS, 'Create a webhook subscription'),
    ...change,
    body: newWebhook,
    reply: { status: 201, body: secretReply },
  },
  verifyWebhook: {
    ...endpoint('POST', `${WEBHOOK}/verify`, 'Verify the receiver and activate the subscription'),
    ...manage,
    errors: ['invalid_resource_state', 'webhook_verification_failed'],
    // The receiver has ten seconds.
    deadline: 20_000,
    cost: { base: 5 },
    params,
    reply: webhook,
  },
  pauseWebhook: {
    ...endpoint('POST', `${WEBHOOK}/pause`, 'Pause a webhook subscription'),
    ...change,
    params,
    reply: webhook,
  },
  resumeWebhook: {
    ...endpoint('POST', `${WEBHOOK}/resume`, 'Resume a paused webhook subscription'),
    ...change,
    params,
    reply: webhook,
  },
  rotateWebhookSecret: {
    ...endpoint('POST', `${WEBHOOK}/rotate-secret`, 'Rotate the signing secret'),
    ...change,
    params,
    reply: { status: 200, body: secretReply },
  },
  revokeWebhook: {
    ...endpoint('POST', `${WEBHOOK}/revoke`, 'Revoke a webhook subscription'),
    ...manage,
    params,
    reply: webhook,
  },
} as const satisfies Contracts;

export type WebhookApi = Handlers<typeof contracts>;
