import { checkSeesRestricted, type RouteRequest } from '@tocsin/http';
import { changeBy } from '@tocsin/messaging';
import type { AllowedDestinations } from '@tocsin/safe-http';
import type { SendingDependencies, SubscriptionCommand, SubscriptionDependencies } from '../subscription-command.ts';
import { createSubscription } from '../create-subscription.ts';
import type { Subscription } from '../domain/subscription.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import {
  pauseSubscription,
  replaceHeaders,
  resumeSubscription,
  revokeSubscription,
  rotateSecret,
} from '../subscription-lifecycle.ts';
import { testSubscription } from '../test-subscription.ts';
import { verifySubscription } from '../verify-subscription.ts';
import type { SubscriptionApi } from './contracts.ts';
import type { WebhookWire } from './wire.ts';

export const subscriptionHandlers = (
  dependencies: SubscriptionDependencies & SendingDependencies & { allowed: AllowedDestinations },
): SubscriptionApi => ({
  listWebhooks: async ({ principal }) => {
    const subscriptions = await subscriptionStore(dependencies.database, principal.workspace.id).list();
    return { body: { webhooks: subscriptions.map(webhookView) } };
  },

  createWebhook: async (request) => {
    const { body, principal } = request;
    if (body.include_restricted === true) checkSeesRestricted(principal);
    const { subscription, secret } = await createSubscription(dependencies, {
      ...changeBy(request),
      url: body.url,
      name: body.name?.trim() ?? null,
      eventTypes: body.event_types,
      ...(body.headers !== undefined && { headers: body.headers }),
      includeRestricted: body.include_restricted === true,
    });
    return { body: { webhook: webhookView(subscription), secret } };
  },

  verifyWebhook: async (request) => replyOf(await verifySubscription(dependencies, commandOf(request))),
  testWebhook: async (request) => {
    const { outcome, duration } = await testSubscription(dependencies, commandOf(request));
    const result = outcome.kind === 'success' ? 'succeeded' : outcome.reason;
    const { status = null, answer = null } = outcome;
    return { body: { outcome: { result, status, duration_ms: duration, answer } } };
  },
  pauseWebhook: async (request) => replyOf(await pauseSubscription(dependencies, commandOf(request))),
  resumeWebhook: async (request) => replyOf(await resumeSubscription(dependencies, commandOf(request))),
  revokeWebhook: async (request) => replyOf(await revokeSubscription(dependencies, commandOf(request))),

  replaceWebhookHeaders: async (request) => {
    const command = { ...commandOf(request), headers: request.body.headers };
    return replyOf(await replaceHeaders(dependencies, command));
  },

  rotateWebhookSecret: async (request) => {
    const { subscription, secret } = await rotateSecret(dependencies, commandOf(request));
    return { body: { webhook: webhookView(subscription), secret } };
  },
});

const commandOf = (request: RouteRequest<{ id: string }, unknown, unknown>): SubscriptionCommand => ({
  ...changeBy(request),
  id: request.params.id,
  caller: request.principal,
});

const replyOf = (subscription: Subscription) => ({ body: { webhook: webhookView(subscription) } });

function webhookView(subscription: Subscription): WebhookWire {
  return {
    id: subscription.id,
    name: subscription.name,
    url: subscription.origin,
    event_types: [...subscription.eventTypes],
    header_names: [...subscription.headerNames],
    include_restricted: subscription.includeRestricted,
    status: subscription.status,
    created_at: subscription.createdAt,
    updated_at: subscription.updatedAt,
    last_success_at: subscription.lastSuccessAt,
    last_failure_at: subscription.lastFailureAt,
  };
}
