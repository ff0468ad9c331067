import { invalidState, shareExceeded } from '@tocsin/http';
import { addMilliseconds, type Instant } from '@tocsin/runtime';

export const EVENT_TYPES = ['incident.created'] as const;
export type WebhookEventType = (typeof EVENT_TYPES)[number];

export const STATUSES = ['active', 'paused', 'revoked'] as const;
type SubscriptionStatus = (typeof STATUSES)[number];

/** Active and paused subscriptions per workspace (contract: Webhooks). */
export const MAX_SUBSCRIPTIONS = 10;
/** Subscriptions that a workspace may create within an hour, which bounds the revoked ones (contract: Webhooks). */
export const MAX_CREATED_AN_HOUR = 600;
const HOUR = 3_600_000;
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

/**
 * @param createdAt when the subscription was created that has `MAX_CREATED_AN_HOUR` - 1 later ones, if there is one
 * @throws DomainError `rate_limited` when that was less than an hour ago
 */
export function checkCreationRate(createdAt: Instant | undefined, now: Instant): void {
  if (createdAt === undefined) return;
  const wait = Date.parse(addMilliseconds(createdAt, HOUR)) - Date.parse(now);
  if (wait <= 0) return;
  throw shareExceeded(`The workspace has created ${MAX_CREATED_AN_HOUR} webhooks within an hour; try again later`, {
    reason: 'webhooks_an_hour',
    seconds: Math.ceil(wait / 1_000),
  });
}

/** @throws DomainError `invalid_resource_state` when the subscription is revoked */
export function checkNotRevoked({ status }: Pick<Subscription, 'status'>): void {
  if (status === 'revoked') throw revokedError();
}

/** @throws DomainError `invalid_resource_state` when the subscription is revoked or not verified */
export function checkResumable(subscription: Pick<Subscription, 'status' | 'verified'>): void {
  checkNotRevoked(subscription);
  if (!subscription.verified) throw invalidState('The webhook must be verified before it can be resumed');
}
