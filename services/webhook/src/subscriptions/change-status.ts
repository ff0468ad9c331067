import { serviceUnavailable } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { SubscriptionDependencies } from './subscription-command.ts';
import type { Subscription } from './domain/subscription.ts';
import { activityStore } from './store/activity-store.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { subscriptionStore } from './store/subscription-store.ts';

interface StatusChange {
  trx: Knex.Transaction;
  /** Locked by the transaction. */
  subscription: Subscription;
  /** See `findLastIncidentNumber`. */
  lastIncidentNumber: number | undefined;
  now: Instant;
}

/**
 * The number of the workspace's latest incident; undefined when the incident service is unavailable. Must not be called
 * while rows are locked.
 */
export async function findLastIncidentNumber(
  { incidents, log }: Pick<SubscriptionDependencies, 'incidents' | 'log'>,
  workspaceId: number,
): Promise<number | undefined> {
  try {
    return await incidents.lastIncidentNumber(workspaceId);
  } catch (error) {
    log.warn({ err: error, workspace: workspaceId }, 'cannot get the latest incident from the incident service');
    return undefined;
  }
}

/**
 * Makes a subscription receive events from now on, and queues its held deliveries again.
 * @throws DomainError `service_unavailable` without a number: clocks alone cannot tell which incidents came before
 */
export async function setActive({ trx, subscription, lastIncidentNumber, now }: StatusChange): Promise<Subscription> {
  if (lastIncidentNumber === undefined)
    throw serviceUnavailable('The webhook cannot be activated now; try again later');
  const { id, workspaceId } = subscription;
  const active: Subscription = { ...subscription, status: 'active', updatedAt: now };
  await subscriptionStore(trx, workspaceId).update(active);
  await activityStore(trx, subscription).start({ number: lastIncidentNumber, at: now });
  await deliveryStore(trx).resume(id, workspaceId);
  return active;
}

/**
 * Makes a subscription receive no more events, and holds its queued deliveries. This must always be possible: without
 * a number the clocks decide where the interval ends.
 */
export async function setPaused({ trx, subscription, lastIncidentNumber, now }: StatusChange): Promise<Subscription> {
  const { id, workspaceId } = subscription;
  const paused: Subscription = { ...subscription, status: 'paused', updatedAt: now };
  await subscriptionStore(trx, workspaceId).update(paused);
  await activityStore(trx, subscription).end({ number: lastIncidentNumber, at: now });
  await deliveryStore(trx).hold(id, workspaceId);
  return paused;
}
