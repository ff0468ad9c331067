import { invalidState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

export const EVENT_TYPES = ['incident.created'] as const;
export type WebhookEventType = (typeof EVENT_TYPES)[number];

export const STATUSES = ['active', 'paused', 'revoked'] as const;
type SubscriptionStatus = (typeof STATUSES)[number];

/** Active and paused subscriptions per workspace (contract: Webhooks). */
export const MAX_SUBSCRIPTIONS = 10;
/** Subscriptions that a workspace may create within an hour, which bounds the revoked ones (contract: Webhooks). */
export const MAX_CREATED_AN_HOUR = 600;
/** Consecutive failures after which a subscription is paused until it is verified again (contract: Deliveries). */
export const MAX_CONSECUTIVE_FAILURES = 5;
/** How long the previous secret still signs after a rotation; milliseconds. */
export const SECRET_OVERLAP = 24 * 3_600_000;

/** A webhook subscription (contract: Webhooks). Its URL and secrets are encrypted and read separately. */
export interface Subscription {
  id: string;
  workspaceId: number;
  /** What its users call it, to tell it from others on the same host. */
  name: string | null;
  origin: string;
  host: string;
  eventTypes: readonly WebhookEventType[];
  /** The names of the receiver's headers, whose values are encrypted with the URL. */
  headerNames: readonly string[];
  /** Whether it gets restricted incidents, too; it does not change, since its receiver does not. */
  includeRestricted: boolean;
  status: SubscriptionStatus;
  verified: boolean;
  consecutiveFailures: number;
  createdAt: Instant;
  updatedAt: Instant;
  lastSuccessAt: Instant | null;
  lastFailureAt: Instant | null;
}

export const revokedError = () => invalidState('The webhook is revoked');

/** @throws DomainError `invalid_resource_state` when the subscription is revoked */
export function checkNotRevoked({ status }: Pick<Subscription, 'status'>): void {
  if (status === 'revoked') throw revokedError();
}

/** @throws DomainError `invalid_resource_state` when the subscription is revoked or not verified */
export function checkResumable(subscription: Pick<Subscription, 'status' | 'verified'>): void {
  checkNotRevoked(subscription);
  if (!subscription.verified) throw invalidState('The webhook must be verified before it can be resumed');
}
