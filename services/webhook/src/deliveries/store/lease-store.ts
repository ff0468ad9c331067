import { type Knex, query } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import type { AttemptResult, InternalFailure, RetryDecision } from '../../queue/domain/delivery.ts';
import { currentTime } from '../../shared/store/time.ts';

/** An attempt that has ended, and what happens to its delivery. */
interface AttemptRecord {
  number: number;
  decision: RetryDecision;
  result: AttemptResult;
  /** The HTTP status, if response headers arrived. */
  status?: number | undefined;
  /** Milliseconds. */
  duration: number;
}

const LOCK_LEASED = `
  select status from deliveries where lease_token = $1 and status in ('queued', 'held') for update`;

const RELEASE = `
  update deliveries set lease_token = null, due_at = $2, attempts = $3
  where lease_token = $1 and status in ('queued', 'held')`;

const COUNT_ATTEMPT = `update deliveries set attempts = $2 where lease_token = $1`;

/** Frees the slot, too, and uncounts the attempt if its request was confirmed. */
const GIVE_BACK = `
  with closed as (delete from slots where token = $1)
  update deliveries set lease_token = null, attempts = $2, internal_failures = $3, last_error = $4, last_status = null,
    due_at = ${currentTime('$5')} + $6::int * interval '1 millisecond'
  where lease_token = $1 and status in ('queued', 'held')`;

/** Ends a lease and keeps the attempt, in one statement. A deferral leaves the error of the request before it. */
const FINISH = `
  with finished as (
    update deliveries set lease_token = null, due_at = coalesce($2, due_at), status = coalesce($3, status),
      finished_at = $4, attempts = $10, failed_attempts = failed_attempts + $5, internal_failures = 0,
      last_error = case when $6 = 'deferred' then last_error when $6 = 'succeeded' then null else $6 end,
      last_status = case when $6 = 'deferred' then last_status else $7 end
    where lease_token = $1 and status in ('queued', 'held')
    returning id, attempts
  )
  insert into attempts (delivery_id, number, started_at, duration, result, status)
  select id, attempts, $8, $9, $6, $7 from finished
  returning delivery_id`;

/** Claimed deliveries, by the token of their lease, over a pool or a transaction. */
export function leaseStore(db: Knex) {
  return {
    /**
     * Locks the delivery that is leased with this token, and returns its status; undefined when the lease is lost. It
     * is locked before the row of its host, which others may wait for while they hold a delivery.
     */
    async lock(token: string): Promise<'queued' | 'held' | undefined> {
      const [row] = await query<{ status: 'queued' | 'held' }>(db, {
        name: 'lock-leased',
        text: LOCK_LEASED,
        values: [token],
      });
      return row?.status;
    },

    /** Ends a lease as if the delivery had not been claimed. */
    async release({ token, attempts }: { token: string; attempts: number }, dueAt: Instant): Promise<void> {
      await query(db, { name: 'release-delivery', text: RELEASE, values: [token, dueAt, attempts - 1] });
    },

    /** Counts the attempt of a delivery that this transaction has locked. */
    async countAttempt(token: string, number: number): Promise<void> {
      await query(db, { name: 'count-attempt', text: COUNT_ATTEMPT, values: [token, number] });
    },

    /**
     * Ends a lease after an internal failure and frees its slot, without an attempt. The delivery is due again after
     * `delay` milliseconds.
     */
    async giveBack(
      { token, attempts, internalFailures }: { token: string; attempts: number; internalFailures: number },
      { reason, delay, time }: { reason: InternalFailure; delay: number; time: Instant | null },
    ): Promise<void> {
      const values = [token, attempts - 1, internalFailures + 1, reason, time, delay];
      await query(db, { name: 'give-back-delivery', text: GIVE_BACK, values });
    },

    /** Ends a lease and keeps the attempt. Returns false when the lease was lost. */
    async finish(token: string, attempt: AttemptRecord, now: Instant): Promise<boolean> {
      const { number, decision, result, status = null, duration } = attempt;
      const isRetry = decision.kind === 'retry';
      const isFailure = result !== 'succeeded' && result !== 'deferred';
      const rows = await query(db, {
        name: 'finish-delivery',
        text: FINISH,
        values: [
          token,
          isRetry ? decision.at : null,
          isRetry ? null : decision.kind,
          isRetry ? null : now,
          isFailure ? 1 : 0,
          result,
          status,
          addMilliseconds(now, -duration),
          duration,
          number,
        ],
      });
      return rows.length === 1;
    },
  };
}
