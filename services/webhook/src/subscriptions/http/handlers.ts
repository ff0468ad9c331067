import type { RouteRequest } from '@tocsin/http';
import { changeBy } from '@tocsin/messaging';
import type { Dependencies, SubscriptionCommand } from '../../dependencies.ts';
import { createSubscription } from '../create-subscription.ts';
import type { Subscription } from '../domain/subscription.ts';
import { rotateSecret } from '../rotate-secret.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import { pauseSubscription, resumeSubscription, revokeSubscription } from '../subscription-lifecycle.ts';
import { verifySubscription } from '../verify-subscription.ts';
import type { SubscriptionApi } from './contracts.ts';
import type { WebhookWire } from './wire.ts';

export const subscriptionHandlers = (dependencies: Dependencies): SubscriptionApi => ({
  listWebhooks: async ({ principal }) => {
    const subscriptions = await subscriptionStore(dependencies.database, principal.workspace.id).list();
    return { body: { webhooks: subscriptions.map(webhookView) } };
  },

  createWebhook: async (request) => {
    const { body } = request;
    const { subscription, secret } = await createSubscription(dependencies, {
      ...changeBy(request),
      url: body.url,
      name: body.name?.trim() ?? null,
      eventTypes: body.event_types,
    });
    return { body: { webhook: webhookView(subscription), secret } };
  },

  verifyWebhook: async (request) => ({
    body: { webhook: webhookView(await verifySubscription(dependencies, commandOf(request))) },
  }),

  pauseWebhook: async (request) => ({
    body: { webhook: webhookView(await pauseSubscription(dependencies, commandOf(request))) },
  }),

  resumeWebhook: async (request) => ({
    body: { webhook: webhookView(await resumeSubscription(dependencies, commandOf(request))) },
  }),

  revokeWebhook: async (request) => ({
    body: { webhook: webhookView(await revokeSubscription(dependencies, commandOf(request))) },
  }),

  rotateWebhookSecret: async (request) => {
    const { subscription, secret } = await rotateSecret(dependencies, commandOf(request));
    return { body: { webhook: webhookView(subscription), secret } };
  },
});

const commandOf = (request: RouteRequest<{ id: string }, unknown, unknown>): SubscriptionCommand => ({
  ...changeBy(request),
  id: request.params.id,
});

function webhookView(subscription: Subscription): WebhookWire {
  return {
    id: subscription.id,
    name: subscription.name,
    url: subscription.origin,
    event_types: [...subscription.eventTypes],
    status: subscription.status,
    created_at: subscription.createdAt,
    updated_at: subscription.updatedAt,
    last_success_at: subscription.lastSuccessAt,
    last_failure_at: subscription.lastFailureAt,
  };
}
