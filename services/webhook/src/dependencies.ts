import type { Change } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Logger } from '@tocsin/runtime';
import type { AllowedDestinations } from '@tocsin/safe-http';
import type { IncidentClient } from './subscriptions/clients/incidents.ts';
import type { Sender } from './requests/clients/sender.ts';
import type { DeliveryLimits } from './queue/domain/delivery.ts';
import type { RequestLimits } from './requests/domain/limits.ts';
import type { Time } from './shared/store/time.ts';
import type { WebhookMetrics } from './queue/metrics.ts';
import type { SecretCipher } from './subscriptions/secret-cipher.ts';

/** What the use cases work with. */
export interface Dependencies {
  database: Knex;
  time: Time;
  secretCipher: SecretCipher;
  sender: Sender;
  incidents: Pick<IncidentClient, 'lastIncidentNumber'>;
  metrics: WebhookMetrics;
  log: Logger;
  allowed: AllowedDestinations;
  requestLimits: RequestLimits;
  deliveryLimits: DeliveryLimits;
  /** Makes the dispatcher claim deliveries at once; called after a commit that queued some that are due. */
  wakeDispatcher: () => void;
  /** Makes the relay publish the outbox now; called after a commit. */
  wakeRelay: () => void;
}

/** A change of this subscription. */
export interface SubscriptionCommand extends Change {
  id: string;
}
