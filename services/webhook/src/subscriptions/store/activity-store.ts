import { type Knex, query, type Statement } from '@tocsin/postgres';
import { type Instant, addMilliseconds } from '@tocsin/runtime';
import type { Subscription } from '../domain/subscription.ts';

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
export function activityStore(db: Knex, { workspaceId, id }: Pick<Subscription, 'workspaceId' | 'id'>) {
  return {
    async start({ number, at }: Position): Promise<void> {
      await query(db, {
        name: 'start-activity',
        text: 'insert into activity (workspace_id, subscription_id, started_at, after_number) values ($1, $2, $3, $4)',
        values: [workspaceId, id, at, number ?? null],
      });
    },

    async end({ number, at }: Position): Promise<void> {
      await query(db, {
        name: 'end-activity',
        // The clock may have been set back since the interval started.
        text: `update activity set ended_at = greatest(started_at, $3), until_number = $4
          where workspace_id = $1 and subscription_id = $2 and ended_at is null`,
        values: [workspaceId, id, at, number ?? null],
      });
    },
  };
}

/** An incident's number in its workspace, and its creation time by the incident service's clock. */
interface Creation {
  number: number | undefined;
  occurredAt: Instant;
}

/** A subscription and an incident of its workspace. */
export interface Recipient {
  workspaceId: number;
  subscriptionId: string;
  creation: Creation;
}

/** The lateral join reads the intervals of one subscription after the other: the planner might scan the whole table. */
const ACTIVE = `
  select nth::int - 1 as index
  from unnest((select $1::bigint[]), (select $2::text[]), (select $3::bigint[]), (select $4::timestamptz[])) with ordinality
    as recipient (workspace_id, subscription_id, number, occurred_at, nth)
  cross join lateral (
    select id from activity
    where activity.workspace_id = recipient.workspace_id and activity.subscription_id = recipient.subscription_id
      and coalesce(after_number < number, started_at <= occurred_at)
      and (ended_at is null or coalesce(until_number >= number, ended_at > occurred_at))
    limit 1
  ) as interval`;

/**
 * Finds the recipients whose subscription was active when the incident was created; its rows have their indexes. Numbers
 * are compared if both sides have one, because the clocks of the two services may differ; times are compared otherwise.
 */
export const activeStatement = (recipients: readonly Recipient[]): Statement<{ index: number }> => ({
  name: 'filter-active',
  text: ACTIVE,
  values: [
    recipients.map(({ workspaceId }) => workspaceId),
    recipients.map(({ subscriptionId }) => subscriptionId),
    recipients.map(({ creation }) => creation.number ?? null),
    recipients.map(({ creation }) => creation.occurredAt),
  ],
});

/** Longer than an event may take from its creation to this service. */
const RETENTION = 30 * 24 * 3_600_000;

export async function forgetActivity(db: Knex, now: Instant): Promise<void> {
  await query(db, { text: 'delete from activity where ended_at < $1', values: [addMilliseconds(now, -RETENTION)] });
}
