import { wrongState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

export const EVENT_TYPES = ['incident.created'] as const;
export type WebhookEventType = (typeof EVENT_TYPES)[number];

export const STATUSES = ['active', 'paused', 'revoked'] as const;
export type SubscriptionStatus = (typeof STATUSES)[number];

/** Active or paused ones a workspace (contract: Limits). */
export const MAX_SUBSCRIPTIONS = 10;
/** Consecutive failures after which a subscription has to be verified again (contract: Deliveries). */
export const MAX_CONSECUTIVE_FAILURES = 5;
/** How long the previous secret goes on signing after a rotation; milliseconds. */
export const SECRET_OVERLAP = 24 * 3_600_000;

/** A webhook subscription (contract: Webhooks); its URL and secrets are kept sealed, apart. */
export interface Subscription {
  id: string;
  workspaceId: number;
  origin: string;
  host: string;
  eventTypes: readonly WebhookEventType[];
  status: SubscriptionStatus;
  verified: boolean;
  consecutiveFailures: number;
  createdAt: Instant;
  updatedAt: Instant;
  lastSuccessAt: Instant | null;
  lastFailureAt: Instant | null;
}

export const revoked = () => wrongState('The webhook is revoked');

/** @throws DomainError `invalid_resource_state` for a revoked one */
export function checkNotRevoked({ status }: Pick<Subscription, 'status'>): void {
  if (status === 'revoked') throw revoked();
}

/** @throws DomainError `invalid_resource_state` unless it is active or may become so without a verification */
export function checkResumable(subscription: Pick<Subscription, 'status' | 'verified'>): void {
  checkNotRevoked(subscription);
  if (!subscription.verified) throw wrongState('The webhook has to be verified before it can be resumed');
}
