import { type Instant, type Knex, addMilliseconds } from '@tocsin/runtime';

/**
 * A point in a workspace's history: the number of its latest incident and the time by our clock. The number decides
 * whether an incident is before or after it; the time is used when the number is unknown because the incident service
 * was unavailable.
 */
export interface Position {
  number: number | undefined;
  at: Instant;
}

/** The intervals in which a subscription was active; the start is inclusive, the end exclusive. */
export function activityStore(db: Knex, subscriptionId: string) {
  return {
    async start({ number, at }: Position): Promise<void> {
      await db('activity').insert({ subscription_id: subscriptionId, started_at: at, after_number: number ?? null });
    },

    async end({ number, at }: Position): Promise<void> {
      await db('activity')
        .where({ subscription_id: subscriptionId })
        .whereNull('ended_at')
        // The clock may have been set back since the interval started.
        .update({ ended_at: db.raw('greatest(started_at, ?)', [at]), until_number: number ?? null });
    },
  };
}

/** An incident's number in its workspace, and its creation time by the incident service's clock. */
export interface Creation {
  number: number | undefined;
  occurredAt: Instant;
}

/**
 * Returns the subscriptions that were active when an incident was created. Numbers are compared if both sides have one,
 * because the clocks of the two services may differ; times are compared otherwise.
 */
export async function activeAt(
  db: Knex,
  subscriptionIds: readonly string[],
  { number, occurredAt }: Creation,
): Promise<Set<string>> {
  const rows = await db('activity')
    .whereIn('subscription_id', subscriptionIds)
    .whereRaw('coalesce(after_number < ?::bigint, started_at <= ?)', [number ?? null, occurredAt])
    .whereRaw('(ended_at is null or coalesce(until_number >= ?::bigint, ended_at > ?))', [number ?? null, occurredAt])
    .select<{ subscription_id: string }[]>('subscription_id');
  return new Set(rows.map((row) => row.subscription_id));
}

/** Longer than an event may take from its creation to this service. */
const RETENTION = 30 * 24 * 3_600_000;

export async function forgetActivity(db: Knex, now: Instant): Promise<void> {
  await db('activity').where('ended_at', '<', addMilliseconds(now, -RETENTION)).delete();
}
