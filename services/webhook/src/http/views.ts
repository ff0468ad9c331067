import type { Subscription } from '../domain/subscription.ts';
import type { WebhookWire } from './wire.ts';

/** A subscription as the API shows it. */
export function webhookView(subscription: Subscription): WebhookWire {
  return {
    id: subscription.id,
    url: subscription.origin,
    event_types: [...subscription.eventTypes],
    status: subscription.status,
    created_at: subscription.createdAt,
    updated_at: subscription.updatedAt,
    last_success_at: subscription.lastSuccessAt,
    last_failure_at: subscription.lastFailureAt,
  };
}
