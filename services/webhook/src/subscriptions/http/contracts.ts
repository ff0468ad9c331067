import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { z } from 'zod';
import { newHeaders, newWebhook, secretReply, testReply, webhookList, webhookReply } from './wire.ts';

const WEBHOOKS = '/api/v1/settings/webhooks';
const WEBHOOK = `${WEBHOOKS}/{id}`;

const manage = { tag: 'Webhooks', scope: 'webhooks:manage', needs: ['manage_settings'] } as const;
/** Fails in a state of the subscription, or with a number of them, that does not allow the operation. */
const change = { ...manage, errors: ['invalid_resource_state'] } as const;
// IDs have no pattern: a malformed ID is 404, like one that does not exist.
const params = z.strictObject({ id: z.string().meta({ description: 'ID of the subscription' }) });
const webhook = { status: 200, body: webhookReply } as const;

/** contract: Webhooks */
export const subscriptionContracts = {
  listWebhooks: {
    ...endpoint('GET', WEBHOOKS, 'List webhook subscriptions'),
    ...manage,
    reply: { status: 200, body: webhookList },
  },
  createWebhook: {
    ...endpoint('POST', WEBHOOKS, 'Create a webhook subscription'),
    ...change,
    body: newWebhook,
    reply: { status: 201, body: secretReply, assigned: ['webhook.id', 'secret'] },
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
  testWebhook: {
    ...endpoint('POST', `${WEBHOOK}/test`, 'Send the receiver a test request'),
    ...change,
    deadline: 20_000,
    cost: { base: 5 },
    params,
    // A dry run sends nothing.
    reply: {
      status: 200,
      body: testReply,
      assigned: ['outcome.result', 'outcome.status', 'outcome.duration_ms', 'outcome.answer'],
    },
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
  replaceWebhookHeaders: {
    ...endpoint('PUT', `${WEBHOOK}/headers`, "Replace the headers of the receiver's own"),
    ...change,
    params,
    body: newHeaders,
    reply: webhook,
  },
  rotateWebhookSecret: {
    ...endpoint('POST', `${WEBHOOK}/rotate-secret`, 'Rotate the signing secret'),
    ...change,
    params,
    reply: { status: 200, body: secretReply, assigned: ['secret'] },
  },
  revokeWebhook: {
    ...endpoint('POST', `${WEBHOOK}/revoke`, 'Revoke a webhook subscription'),
    ...manage,
    params,
    reply: webhook,
  },
} as const satisfies Contracts;

export type SubscriptionApi = Handlers<typeof subscriptionContracts>;
