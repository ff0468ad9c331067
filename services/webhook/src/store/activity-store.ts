import { type Instant, type Knex, later } from '@tocsin/runtime';

/** When a subscription was active: intervals with their beginning and without their end. */
export function activityStore(db: Knex, subscriptionId: string) {
  return {
    async begin(now: Instant): Promise<void> {
      await db('activity').insert({ subscription_id: subscriptionId, started_at: now });
    },

    async end(now: Instant): Promise<void> {
      await db('activity')
        .where({ subscription_id: subscriptionId })
        .whereNull('ended_at')
        // Not before it began: a clock may have been set back meanwhile.
        .update({ ended_at: db.raw('greatest(started_at, ?)', [now]) });
    },
  };
}

/** Of these subscriptions, those that were active at a moment. */
export async function activeAt(db: Knex, subscriptionIds: readonly string[], moment: Instant): Promise<Set<string>> {
  const rows = await db('activity')
    .whereIn('subscription_id', subscriptionIds)
    .where('started_at', '<=', moment)
    .where((open) => void open.whereNull('ended_at').orWhere('ended_at', '>', moment))
    .select<{ subscription_id: string }[]>('subscription_id');
  return new Set(rows.map((row) => row.subscription_id));
}

/** Longer than any event is under way. */
const KEPT = 30 * 24 * 3_600_000;

export async function forgetActivity(db: Knex, now: Instant): Promise<void> {
  await db('activity').where('ended_at', '<', later(now, -KEPT)).delete();
}
