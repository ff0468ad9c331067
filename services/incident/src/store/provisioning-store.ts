import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '@tocsin/http';
import { type Instant, type Knex, later } from '@tocsin/runtime';
import {
  type Counts,
  type Provisioning,
  type ProvisioningStep,
  STEP_KEYS,
  type StepKey,
  type StepStatus,
  untouched,
} from '../domain/provisioning.ts';

/** What was asked for an incident, with what its steps need. */
export interface ProvisioningRequest {
  incidentId: number;
  workspace: { id: number; slug: string; is_demo: boolean };
  requestId: string;
  /** In the purpose of the incident's channel. */
  marker: string;
  usergroups: readonly string[];
}

/** A step that this process, and no other, may run until its lease is over. */
export interface StepClaim extends Counts {
  incidentId: number;
  workspaceId: number;
  key: StepKey;
  lease: string;
}

/** How a step stands after an attempt. */
export interface Settlement extends Partial<Counts> {
  status: StepStatus;
  errorCode: ErrorCode | null;
  /** Of the next attempt. */
  dueAt?: Instant;
  now: Instant;
}

interface StepRow {
  key: StepKey;
  status: StepStatus;
  attempts: number;
  error_code: ErrorCode | null;
  updated_at: Instant;
}

interface RequestRow {
  incident_id: number;
  workspace_id: number;
  workspace_slug: string;
  is_demo: boolean;
  request_id: string;
  marker: string;
  usergroups: string[];
}

interface ClaimRow extends Counts {
  incident_id: number;
  workspace_id: number;
  key: StepKey;
}

/** Longer than an attempt can take: every call to the chat is bounded, and an attempt makes four at most. */
const LEASE = 25_000;

/** What is set up for incidents, over a pool or a transaction. */
export function provisioningStore(db: Knex) {
  const step = ({ incidentId, key }: { incidentId: number; key: StepKey }) =>
    db('provisioning_steps').where({ incident_id: incidentId, key });
  return {
    /** The record of an incident; `undefined` where nothing was asked for. */
    async find(incidentId: number): Promise<Provisioning | undefined> {
      const request = await db('provisionings')
        .where({ incident_id: incidentId })
        .first<{ created_at: Instant } | undefined>('created_at');
      if (request === undefined) return undefined;
      const rows = await db('provisioning_steps')
        .where({ incident_id: incidentId })
        .select<StepRow[]>('key', 'status', 'attempts', 'error_code', 'updated_at');
      const steps = STEP_KEYS.map((key): ProvisioningStep => {
        const row = rows.find((found) => found.key === key);
        if (row === undefined) return untouched(key, request.created_at);
        const { status, attempts, error_code: errorCode, updated_at: updatedAt } = row;
        return { key, status, attempts, errorCode, updatedAt };
      });
      return { incidentId, steps, createdAt: request.created_at };
    },

    async getRequest(incidentId: number): Promise<ProvisioningRequest> {
      const row = await db('provisionings')
        .where({ incident_id: incidentId })
        .first<RequestRow | undefined>(
          'incident_id',
          'workspace_id',
          'workspace_slug',
          'is_demo',
          'request_id',
          'marker',
          'usergroups',
        );
      if (row === undefined) throw new Error(`nothing is provisioned for incident ${incidentId}`);
      return {
        incidentId: row.incident_id,
        workspace: { id: row.workspace_id, slug: row.workspace_slug, is_demo: row.is_demo },
        requestId: row.request_id,
        marker: row.marker,
        usergroups: row.usergroups,
      };
    },

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
        from first
        where step.incident_id = first.incident_id and step.key = first.key and step.due_at <= :now
        returning step.incident_id, step.workspace_id, step.key, step.failures, step.waits`,
        { now, limit, lease, leaseEnd: later(now, LEASE) },
      );
      return rows.map(({ incident_id: incidentId, workspace_id: workspaceId, ...row }) => ({
        incidentId,
        workspaceId,
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

    /** Asks for failed steps again. Answers those that were failed. */
    async retry(incidentId: number, keys: readonly StepKey[], now: Instant): Promise<StepKey[]> {
      const rows = await db('provisioning_steps')
        .where({ incident_id: incidentId, status: 'failed' })
        .whereIn('key', keys)
        .update({ status: 'pending', failures: 0, waits: 0, error_code: null, due_at: now, updated_at: now })
        .returning<{ key: StepKey }[]>('key');
      return rows.map(({ key }) => key);
    },

    /** Makes a step wait for another. */
    async hold(incidentId: number, key: StepKey): Promise<void> {
      await step({ incidentId, key }).where({ status: 'pending' }).update({ due_at: null });
    },

    /** The name that every attempt asks for, and when that was fixed: the one given, unless an earlier attempt fixed another. */
    async fixName(incidentId: number, name: string, now: Instant): Promise<{ name: string; namedAt: Instant }> {
      const [row] = await db('provisionings')
        .where({ incident_id: incidentId })
        .update({
          channel_name: db.raw('coalesce(channel_name, ?)', [name]),
          named_at: db.raw('coalesce(named_at, ?)', [now]),
        })
        .returning<{ channel_name: string; named_at: Instant }[]>(['channel_name', 'named_at']);
      return { name: row?.channel_name ?? name, namedAt: row?.named_at ?? now };
    },

    /** The next attempt may ask for another name: no channel of ours has this one. */
    async forgetName(incidentId: number): Promise<void> {
      await db('provisionings').where({ incident_id: incidentId }).update({ channel_name: null, named_at: null });
    },
  };
}
