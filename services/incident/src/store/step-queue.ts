import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '@tocsin/http';
import { type Instant, type Knex, later } from '@tocsin/runtime';
import type { Counts, StepKey, StepStatus } from '../domain/provisioning.ts';

/** A step that this process, and no other, may run until its lease is over. */
export interface StepClaim extends Counts {
  incidentId: number;
  workspaceId: number;
  key: StepKey;
  lease: string;
  /** Of the request that asked for it. */
  requestId: string;
}

/** How a step stands after an attempt. */
export interface Settlement extends Partial<Counts> {
  status: StepStatus;
  errorCode: ErrorCode | null;
  /** Of the next attempt. */
  dueAt?: Instant;
  now: Instant;
}

interface ClaimRow extends Counts {
  incident_id: number;
  workspace_id: number;
  key: StepKey;
  request_id: string;
}

/** Milliseconds; whoever lives renews it. */
export const STEP_LEASE = 15_000;

/** The steps of all incidents as a queue, over a pool or a transaction. */
export function stepQueue(db: Knex) {
  const step = ({ incidentId, key }: { incidentId: number; key: StepKey }) =>
    db('provisioning_steps').where({ incident_id: incidentId, key });
  return {
    /**
     * Steps that are due, or whose process died, now this caller's: at most one a workspace, and none where another runs, so that
     * one workspace's chat never keeps the others waiting.
     */
    async claim({ now, limit }: { now: Instant; limit: number }): Promise<StepClaim[]> {
      const lease = randomUUID();
      const { rows } = await db.raw<{ rows: ClaimRow[] }>(
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
        returning step.incident_id, step.workspace_id, step.key, step.failures, step.waits, request.request_id`,
        { now, limit, lease, leaseEnd: later(now, STEP_LEASE) },
      );
      return rows.map(({ incident_id: incidentId, workspace_id: workspaceId, request_id: requestId, ...row }) => ({
        incidentId,
        workspaceId,
        requestId,
        lease,
        ...row,
      }));
    },

    /** When the next step is due. */
    async nextDue(): Promise<Instant | undefined> {
      const row = await db('provisioning_steps')
        .whereNotNull('due_at')
        .orderBy('due_at')
        .first<{ due_at: Instant } | undefined>('due_at');
      return row?.due_at;
    },

    /** Renews the lease of an attempt that goes on. */
    async extend(claim: StepClaim, now: Instant): Promise<void> {
      await step(claim)
        .where({ lease: claim.lease })
        .update({ due_at: later(now, STEP_LEASE) });
    },

    /** Writes how an attempt ended. Answers false, and writes nothing, when its lease was taken over. */
    async settle(claim: StepClaim, { status, errorCode, dueAt, now, failures, waits }: Settlement): Promise<boolean> {
      const touched = await step(claim)
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
      return touched === 1;
    },

    /** Changes a step that waits for another: makes it due, or gives it up. */
    async release(
      waiting: { incidentId: number; key: StepKey },
      { status, errorCode, dueAt, now }: Settlement,
    ): Promise<void> {
      await step(waiting)
        .where({ status: 'pending' })
        .whereNull('due_at')
        .update({ status, error_code: errorCode, due_at: dueAt ?? null, updated_at: now });
    },
  };
}
