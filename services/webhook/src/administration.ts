import type { EventWorkspace } from '@tocsin/schemas';
import { notFound } from '@tocsin/http';
import { changeByOperator } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { AllowedDestinations } from '@tocsin/safe-http';
import type { DeliveryLimits } from './queue/domain/delivery.ts';
import type { Subscription } from './subscriptions/domain/subscription.ts';
import { type CiphertextKind, ciphertextStore } from './subscriptions/store/ciphertext-store.ts';
import {
  type DeliveryFilter,
  deliveryLogStore,
  type LoggedAttempt,
  type LoggedDelivery,
} from './queue/store/delivery-log-store.ts';
import { subscriptionStore } from './subscriptions/store/subscription-store.ts';
import { databaseTime, type Time } from './shared/store/time.ts';
import { createSubscription } from './subscriptions/create-subscription.ts';
import { decrypt } from './subscriptions/rotate-encryption.ts';
import { secretCipher } from './subscriptions/secret-cipher.ts';
import { getDelivery, redeliver, type Redelivery } from './deliveries/redeliver.ts';

export { deliveryLimits, retentionDays } from './config.ts';
export { DELIVERY_STATUSES, type DeliveryStatus } from './queue/domain/delivery.ts';
export type { LoggedAttempt, LoggedDelivery } from './queue/store/delivery-log-store.ts';
export type { Subscription } from './subscriptions/domain/subscription.ts';

/** Whether the database holds ciphertexts, which only the configured secret keys can decrypt. */
export const holdsSecrets = async (database: Knex): Promise<boolean> => ciphertextStore(database).hasAny();

/** The latest ciphertexts of each kind that no key opens. */
export async function countUnopened(
  database: Knex,
  { secretKeys, limit }: { secretKeys: string; limit: number },
): Promise<Record<CiphertextKind, { checked: number; unopened: number }>> {
  const cipher = secretCipher(secretKeys);
  const count = async (kind: CiphertextKind) => {
    const stored = await ciphertextStore(database).latest(kind, limit);
    const unopened = stored.filter((ciphertext) => decrypt(cipher, ciphertext) === undefined);
    return { checked: stored.length, unopened: unopened.length };
  };
  return { secret: await count('secret'), url: await count('url'), destination: await count('destination') };
}

/** Creates a subscription with this ID, which the API cannot choose; does nothing if the workspace has it. */
export async function addSubscription(
  database: Knex,
  options: { secretKeys: string; allowed: AllowedDestinations; workspace: EventWorkspace; id: string; url: string },
): Promise<void> {
  const { secretKeys, allowed, workspace, ...command } = options;
  const existing = await subscriptionStore(database, workspace.id).list();
  if (existing.some(({ id }) => id === command.id)) return;
  const cipher = secretCipher(secretKeys);
  // The relay of the running service finds the entry of the audit log.
  const dependencies = { database, time: databaseTime, secretCipher: cipher, allowed, wakeRelay: () => undefined };
  await createSubscription(dependencies, {
    ...changeByOperator(workspace),
    ...command,
    name: 'Sample receiver',
    eventTypes: undefined,
  });
}

/** The log of deliveries for operators (contract: Deliveries), who see those of all workspaces. */
export function deliveryLog(database: Knex, time: Time = databaseTime) {
  const log = deliveryLogStore(database);
  const find = async (deliveryId: number): Promise<LoggedDelivery> => {
    const workspaceId = await log.findWorkspaceOf(deliveryId);
    if (workspaceId === undefined) throw notFound(`The delivery ${deliveryId}`);
    return getDelivery(database, { workspaceId, deliveryId, seesRestricted: true });
  };
  return {
    /** All subscriptions of a workspace, oldest first, with the number of their waiting deliveries. */
    subscriptions: async (workspaceId: number): Promise<(Subscription & { waiting: number })[]> => {
      const waiting = await log.waiting(workspaceId);
      const subscriptions = await subscriptionStore(database, workspaceId).list();
      return subscriptions.map((subscription) => ({ ...subscription, waiting: waiting.get(subscription.id) ?? 0 }));
    },

    /** The latest deliveries of a workspace, newest first. @throws DomainError `not_found` for an unknown subscription */
    deliveries: async (
      workspaceId: number,
      { limit, ...filter }: DeliveryFilter & { limit: number },
    ): Promise<LoggedDelivery[]> => {
      if (filter.subscriptionId !== undefined) {
        await subscriptionStore(database, workspaceId).get(filter.subscriptionId);
      }
      return log.list(workspaceId, { ...filter, limit, seesRestricted: true });
    },

    /** @throws DomainError `not_found` */
    delivery: async (id: number): Promise<{ delivery: LoggedDelivery; attempts: LoggedAttempt[] }> => {
      const delivery = await find(id);
      return { delivery, attempts: await log.attempts(delivery) };
    },

    /** See `redeliver`. The running dispatchers find the delivery within a second. */
    redeliver: async (
      redelivery: Pick<Redelivery, 'deliveryId' | 'requestedBy'>,
      limits: DeliveryLimits,
    ): Promise<LoggedDelivery> => {
      const { workspaceId } = await find(redelivery.deliveryId);
      return redeliver({ database, time, limits }, { ...redelivery, workspaceId, seesRestricted: true });
    },
  };
}
