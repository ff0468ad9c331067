import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { type Instant, addMilliseconds } from '@tocsin/runtime';
import type { AttemptCounts, StepKey, StepStatus } from '../domain/provisioning.ts';

/** A step that only this process may run until the lease expires. */
export interface ClaimedStep extends AttemptCounts {
  incidentId: number;
  workspaceId: number;
  key: StepKey;
  lease: string;
  /** The ID of the request that caused the step. */
  requestId: string;
  /** The trace of that request, as `storableTrace` returns it. */
  trace: string | null;
}

/** The new state of a step. */
export interface StepUpdate extends Partial<AttemptCounts> {
  status: StepStatus;
  errorCode: ErrorCode | null;
  /** When the next attempt is due; missing if there is none. */
  dueAt?: Instant;
  now: Instant;
}

/** Milliseconds; a running attempt renews it. */
export const STEP_LEASE = 15_000;

/** The queue of the provisioning steps of all incidents, over a pool or a transaction. */
export function stepQueue(db: Knex) {
  const step = ({ incidentId, key }: { incidentId: number; key: StepKey }) =>
    db('provisioning_steps').where({ incident_id: incidentId, key });
  return {
    /**
     * Claims steps that are due or whose lease has expired: at most one for each workspace, and none for a workspace with a
     * running step, so that one workspace's slow chat does not delay the others.
     */
    async claim({ now, limit }: { now: Instant; limit: number }): Promise<ClaimedStep[]> {
      const { rows } = await db.raw<{ rows: ClaimedStep[] }>(
        `
        with due as (
          select distinct on (workspace_id) workspace_id, incident_id, key, due_at
          from provisioning_steps as step
          where due_at <= :now and not exists (
            select 1 from provisioning_steps as busy
            where busy.workspace_id = step.workspace_id and busy.status = 'running' and busy.due_at > :now
          )
          order by workspace_id, due_at, incident_id
        ), first as (
          select incident_id, key from due order by due_at limit :limit
        )
        update provisioning_steps as step
        set status = 'running', attempts = step.attempts + 1, due_at = :leaseEnd, lease = :lease, updated_at = :now
        from first join provisionings as request on request.incident_id = first.incident_id
        where step.incident_id = first.incident_id and step.key = first.key and step.due_at <= :now
        returning step.incident_id as "incidentId", step.workspace_id as "workspaceId", step.key, step.failures, step.waits,
          step.lease, request.request_id as "requestId", request.trace_context as trace`,
        { now, limit, lease: randomUUID(), leaseEnd: addMilliseconds(now, STEP_LEASE) },
      );
      return rows;
    },

    /** Returns when the next step is due. */
    async nextDue(): Promise<Instant | undefined> {
      const row = await db('provisioning_steps')
        .whereNotNull('due_at')
        .orderBy('due_at')
        .first<{ due_at: Instant } | undefined>('due_at');
      return row?.due_at;
    },

    /** Renews the lease of a running attempt. */
    async extendLease(claim: ClaimedStep, now: Instant): Promise<void> {
      await step(claim)
        .where({ lease: claim.lease })
        .update({ due_at: addMilliseconds(now, STEP_LEASE) });
    },

    /** Stores the result of an attempt. Returns false and writes nothing if the lease was lost. */
    async finish(claim: ClaimedStep, { status, errorCode, dueAt, now, failures, waits }: StepUpdate): Promise<boolean> {
      const updated = await step(claim)
        .where({ lease: claim.lease })
        .update({
          status,
          error_code: errorCode,
          due_at: dueAt ?? null,
          lease: null,
          updated_at: now,
          failures: failures ?? claim.failures,
          waits: waits ?? claim.waits,
        });
      return updated === 1;
    },

    /** Updates a step that waits for another: makes it due or failed. */
    async updateWaiting(
      waiting: { incidentId: number; key: StepKey },
      { status, errorCode, dueAt, now }: StepUpdate,
    ): Promise<void> {
      await step(waiting)
        .where({ status: 'pending' })
        .whereNull('due_at')
        .update({ status, error_code: errorCode, due_at: dueAt ?? null, updated_at: now });
    },
  };
}
