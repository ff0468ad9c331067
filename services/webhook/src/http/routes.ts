import { implement, type Route, type RouteRequest } from '@tocsin/http';
import type { Subscription } from '../subscriptions/domain/subscription.ts';
import { subscriptionStore } from '../subscriptions/store/subscription-store.ts';
import type { Dependencies, SubscriptionCommand } from '../dependencies.ts';
import { createSubscription } from '../subscriptions/create-subscription.ts';
import { rotateSecret } from '../subscriptions/rotate-secret.ts';
import { pauseSubscription, resumeSubscription, revokeSubscription } from '../subscriptions/subscription-lifecycle.ts';
import { verifySubscription } from '../subscriptions/verify-subscription.ts';
import { contracts, type WebhookApi } from './contracts.ts';
import { type FeedDependencies, feedHandlers } from '../feed/http/handlers.ts';
import type { WebhookWire } from '../subscriptions/http/wire.ts';

export const routes = ({ dependencies, feed }: { dependencies: Dependencies; feed: FeedDependencies }): Route[] =>
  implement(contracts, { ...webhookHandlers(dependencies), ...feedHandlers(feed) });

const webhookHandlers = (dependencies: Dependencies): Omit<WebhookApi, 'listEvents'> => ({
  listWebhooks: async ({ principal }) => {
    const subscriptions = await subscriptionStore(dependencies.database, principal.workspace.id).list();
    return { body: { webhooks: subscriptions.map(webhookView) } };
  },

  createWebhook: async ({ principal, body }) => {
    const { subscription, secret } = await createSubscription(dependencies, {
      workspaceId: principal.workspace.id,
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

const commandOf = ({
  principal,
  params: { id },
  requestId,
}: RouteRequest<{ id: string }, unknown, unknown>): SubscriptionCommand => ({
  workspaceId: principal.workspace.id,
  id,
  requestId,
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
