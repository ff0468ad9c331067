import { type Change, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Subscription } from './domain/subscription.ts';

type Verb = 'created' | 'verified' | 'paused' | 'resumed' | 'revoked' | 'secret_rotated';

/** Records what somebody did to a subscription in the audit log. */
export const recordSubscriptionChange = async (
  trx: Knex.Transaction,
  change: Change,
  { verb, before, after }: { verb: Verb; before: Subscription | null; after: Subscription },
): Promise<void> =>
  recordChange(trx, change, {
    action: `webhook.${verb}`,
    target: { type: 'webhook', id: after.id },
    before: before === null ? null : stateOf(before),
    after: stateOf(after),
    now: after.updatedAt,
  });

const stateOf = ({ name, origin, eventTypes, status }: Subscription) => ({
  name,
  url: origin,
  event_types: eventTypes,
  status,
});
