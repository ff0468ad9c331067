import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { MAX_ATTEMPTS } from '../../queue/domain/delivery.ts';
import { currentTime } from '../../shared/store/time.ts';

/** Reads the first entries of two indexes. */
const EXPIRED = `
  select 1 from (
    (select deadline_at as time from deliveries where status in ('queued', 'held') order by deadline_at limit 1)
    union all
    (select due_at from deliveries where status in ('queued', 'held') and attempts >= ${MAX_ATTEMPTS} order by due_at limit 1)
  ) as first where time <= ${currentTime('$1')}`;

/** Locked rows are left for the next run: waiting for them could deadlock. */
const fail = (condition: string) => `
  with failed as (
    update deliveries set status = 'failed', lease_token = null, finished_at = $1
    where (workspace_id, id) in (
      select workspace_id, id from deliveries
      where status in ('queued', 'held') and (lease_token is null or due_at <= $1) and ${condition}
      for update skip locked)
    returning id
  )
  select count(*) as count from failed`;
const FAIL_AFTER_DEADLINE = fail('deadline_at <= $1');
const FAIL_EXHAUSTED = fail(`attempts >= ${MAX_ATTEMPTS} and due_at <= $1`);

/** Events that are deleted at once. */
const BATCH = 1_000;

/** Deliveries that have expired, and events past their retention, over a pool or a transaction. */
export function expiryStore(db: Knex) {
  return {
    /** Whether `failExpired` may find a delivery; at a time, or now. */
    async mayHaveExpired(time: Instant | null): Promise<boolean> {
      return (await query(db, { name: 'find-expired', text: EXPIRED, values: [time], isPoll: true })).length > 0;
    },

    /** Fails deliveries that are past their deadline or whose last attempt was lost in a crash; returns how many. */
    async failExpired(now: Instant): Promise<{ deadline: number; exhausted: number }> {
      const countOf = async (text: string) => {
        const [row] = await query<{ count: number }>(db, { text, values: [now] });
        return row?.count ?? 0;
      };
      return { deadline: await countOf(FAIL_AFTER_DEADLINE), exhausted: await countOf(FAIL_EXHAUSTED) };
    },

    /** Deletes events that were queued until a time, with their deliveries; returns whether there may be more. */
    async forget(until: Instant): Promise<boolean> {
      const deleted = await query(db, {
        text: `delete from events
          where (workspace_id, id) in (select workspace_id, id from events where queued_at <= $1 limit ${BATCH})
          returning id`,
        values: [until],
      });
      return deleted.length === BATCH;
    },
  };
}
