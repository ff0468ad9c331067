import { type Knex, query } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import type { AttemptResult, InternalFailure, RetryDecision } from '../../queue/domain/delivery.ts';
import { currentTime } from '../../shared/store/time.ts';
import type { Claim } from './claim-store.ts';

/** An attempt that has ended, and what happens to its delivery. */
interface AttemptRecord {
  number: number;
  decision: RetryDecision;
  result: AttemptResult;
  /** The HTTP status, if response headers arrived. */
  status?: number | undefined;
  /** Milliseconds. */
  duration: number;
  /** What the receiver said. */
  answer?: string | null | undefined;
}

const LOCK_LEASED = `
  select status from deliveries where workspace_id = $1 and lease_token = $2 and status in ('queued', 'held') for update`;

const RELEASE = `
  update deliveries set lease_token = null, due_at = $3, attempts = $4
  where workspace_id = $1 and lease_token = $2 and status in ('queued', 'held')`;

const COUNT_ATTEMPT = `
  update deliveries set attempts = $3 where workspace_id = $1 and lease_token = $2`;

/** Frees the slot, too, and uncounts the attempt if its request was confirmed. */
const GIVE_BACK = `
  with closed as (delete from slots where token = $2)
  update deliveries set lease_token = null, attempts = $3, internal_failures = $4, last_error = $5, last_status = null,
    due_at = ${currentTime('$6')} + $7::int * interval '1 millisecond'
  where workspace_id = $1 and lease_token = $2 and status in ('queued', 'held')`;

/** Ends a lease and keeps the attempt, in one statement. A deferral leaves the error of the request before it. */
const FINISH = `
  with finished as (
    update deliveries set lease_token = null, due_at = coalesce($3, due_at), status = coalesce($4, status),
      finished_at = $5, attempts = $11, failed_attempts = failed_attempts + $6, internal_failures = 0,
      last_error = case when $7 = 'deferred' then last_error when $7 = 'succeeded' then null else $7 end,
      last_status = case when $7 = 'deferred' then last_status else $8 end
    where workspace_id = $1 and lease_token = $2 and status in ('queued', 'held')
    returning workspace_id, id, attempts
  )
  insert into attempts (workspace_id, delivery_id, number, started_at, duration, result, status, answer)
  select workspace_id, id, attempts, $9, $10, $7, $8, $12 from finished
  returning delivery_id`;

/** A leased delivery. */
type Leased = Pick<Claim, 'workspaceId' | 'token'>;

/** Claimed deliveries, by the token of their lease, over a pool or a transaction. */
export function leaseStore(db: Knex) {
  return {
    /**
     * Locks the delivery that is leased with this token, and returns its status; undefined when the lease is lost. It
     * is locked before the row of its host, which others may wait for while they hold a delivery.
     */
    async lock({ workspaceId, token }: Leased): Promise<'queued' | 'held' | undefined> {
      const [row] = await query<{ status: 'queued' | 'held' }>(db, {
        name: 'lock-leased',
        text: LOCK_LEASED,
        values: [workspaceId, token],
      });
      return row?.status;
    },

    /** Ends a lease as if the delivery had not been claimed. */
    async release({ workspaceId, token, attempts }: Leased & Pick<Claim, 'attempts'>, dueAt: Instant): Promise<void> {
      await query(db, { name: 'release-delivery', text: RELEASE, values: [workspaceId, token, dueAt, attempts - 1] });
    },

    /** Counts the attempt of a delivery that this transaction has locked. */
    async countAttempt({ workspaceId, token, attempts }: Leased & Pick<Claim, 'attempts'>): Promise<void> {
      await query(db, { name: 'count-attempt', text: COUNT_ATTEMPT, values: [workspaceId, token, attempts] });
    },

    /**
     * Ends a lease after an internal failure and frees its slot, without an attempt. The delivery is due again after
     * `delay` milliseconds.
     */
    async giveBack(
      { workspaceId, token, attempts, internalFailures }: Leased & Pick<Claim, 'attempts' | 'internalFailures'>,
      { reason, delay, time }: { reason: InternalFailure; delay: number; time: Instant | null },
    ): Promise<void> {
      const values = [workspaceId, token, attempts - 1, internalFailures + 1, reason, time, delay];
      await query(db, { name: 'give-back-delivery', text: GIVE_BACK, values });
    },

    /** Ends a lease and keeps the attempt. Returns false when the lease was lost. */
    async finish({ workspaceId, token }: Leased, attempt: AttemptRecord, now: Instant): Promise<boolean> {
      const { number, decision, result, status = null, duration, answer = null } = attempt;
      const isRetry = decision.kind === 'retry';
      const isFailure = result !== 'succeeded' && result !== 'deferred';
      const rows = await query(db, {
        name: 'finish-delivery',
        text: FINISH,
        values: [
          workspaceId,
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
          answer,
        ],
      });
      return rows.length === 1;
    },
  };
}
