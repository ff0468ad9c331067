import type { Change } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Logger } from '@tocsin/runtime';
import type { RestrictedCaller } from '@tocsin/http';
import type { WebhookMetrics } from '../queue/metrics.ts';
import type { Sender } from '../requests/clients/sender.ts';
import type { RequestLimits } from '../requests/domain/limits.ts';
import type { Time } from '../shared/store/time.ts';
import type { IncidentClient } from './clients/incidents.ts';
import type { SecretCipher } from './secret-cipher.ts';

/** A change of this subscription. */
export interface SubscriptionCommand extends Change {
  id: string;
  caller: RestrictedCaller;
}

/** What a request to a receiver needs. */
export interface SendingDependencies {
  secretCipher: SecretCipher;
  database: Knex;
  time: Time;
  sender: Sender;
  metrics: WebhookMetrics;
  log: Logger;
  requestLimits: RequestLimits;
}

/** What the commands of subscriptions need. */
export interface SubscriptionDependencies extends Pick<
  SendingDependencies,
  'database' | 'time' | 'secretCipher' | 'log'
> {
  incidents: Pick<IncidentClient, 'lastIncidentNumber'>;
  /** Makes the dispatcher claim deliveries at once; called after a commit that queued some that are due. */
  wakeDispatcher: () => void;
  /** Makes the relay publish the outbox now; called after a commit. */
  wakeRelay: () => void;
}
