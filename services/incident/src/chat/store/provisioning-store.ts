import type { EventWorkspace } from '@tocsin/schemas';
import { type Knex, pipeline, query } from '@tocsin/postgres';
import { type Instant, storableTrace, addMilliseconds } from '@tocsin/runtime';
import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '@tocsin/http';
import {
  type Provisioning,
  type ProvisioningStep,
  STEP_KEYS,
  type StepKey,
  type WorkKey,
  notRequestedStep,
  type AttemptCounts,
  type StepStatus,
} from '../domain/provisioning.ts';

/** The provisioning request of an incident: the input of its steps. */
export interface ProvisioningRequest {
  workspace: EventWorkspace;
  requestId: string;
  /** Identifies the incident's channel; part of the channel's purpose. */
  marker: string;
  usergroups: readonly string[];
}

/** Which incident a provisioning is for. */
export type ProvisionedIncident = Pick<ClaimedStep, 'workspaceId' | 'incidentId'>;

/** Stores the provisionings of incidents, over a pool or a transaction. */
export function provisioningStore(db: Knex) {
  return {
    /** Returns the provisioning of an incident; `undefined` if none was requested. */
    async find({ workspaceId, incidentId }: ProvisionedIncident): Promise<Provisioning | undefined> {
      const [[request], rows] = await pipeline<[{ createdAt: Instant }, ProvisioningStep]>(db, [
        {
          name: 'find-provisioning',
          text: `select created_at as "createdAt" from provisionings where workspace_id = $1 and incident_id = $2`,
          values: [workspaceId, incidentId],
        },
        {
          name: 'list-provisioning-steps',
          text: `select key, status, attempts, error_code as "errorCode", updated_at as "updatedAt"
            from provisioning_steps where workspace_id = $1 and incident_id = $2`,
          values: [workspaceId, incidentId],
        },
      ]);
      if (request === undefined) return undefined;
      const steps = STEP_KEYS.map(
        (key) => rows.find((step) => step.key === key) ?? notRequestedStep(key, request.createdAt),
      );
      return { incidentId, steps, ...request };
    },

    async getRequest({ workspaceId, incidentId }: ProvisionedIncident): Promise<ProvisioningRequest> {
      const [request] = await query<EventWorkspace & Omit<ProvisioningRequest, 'workspace'>>(db, {
        name: 'get-provisioning-request',
        text: `select workspace_id as id, workspace_slug as slug, is_demo, request_id as "requestId", marker, usergroups
          from provisionings where workspace_id = $1 and incident_id = $2`,
        values: [workspaceId, incidentId],
      });
      if (request === undefined) throw new Error(`incident ${incidentId} has no provisioning`);
      const { id, slug, is_demo, ...input } = request;
      return { workspace: { id, slug, is_demo }, ...input };
    },

    /** Stores the provisioning of an incident that has none. */
    async add({ workspaceId, incidentId }: ProvisionedIncident, provisioning: NewProvisioning): Promise<void> {
      const text = `with created as (select $1::bigint as id)${insertProvisioning('$2', '$3::bigint')} select id from created`;
      await query(db, { text, values: [incidentId, provisioningParameter(provisioning), workspaceId] });
    },

    /** Makes failed steps due again. Returns their number. */
    async retry(
      { workspaceId, incidentId }: ProvisionedIncident,
      keys: readonly StepKey[],
      now: Instant,
    ): Promise<number> {
      const retried = await query(db, {
        name: 'retry-provisioning-steps',
        text: `update provisioning_steps
          set status = 'pending', failures = 0, waits = 0, error_code = null, due_at = $4, updated_at = $4
          where workspace_id = $1 and incident_id = $2 and key = any((select $3::text[])::text[])
            and status = 'failed' returning key`,
        values: [workspaceId, incidentId, keys, now],
      });
      return retried.length;
    },

    /** Makes a pending step wait for another. */
    async makeWait({ workspaceId, incidentId }: ProvisionedIncident, key: StepKey): Promise<void> {
      await query(db, {
        name: 'make-provisioning-step-wait',
        text: `update provisioning_steps set due_at = null
          where workspace_id = $1 and incident_id = $2 and key = $3 and status = 'pending'`,
        values: [workspaceId, incidentId, key],
      });
    },
  };
}

const SET_CHANNEL_NAME =
  'update provisionings set channel_name = $3, named_at = $4 where workspace_id = $1 and incident_id = $2';

/** The name of the channel of an incident, over a pool or a transaction. */
export function channelNameStore(db: Knex, { workspaceId, incidentId }: ProvisionedIncident) {
  return {
    /** Returns the channel name that an earlier attempt reserved, and when. */
    async find(): Promise<{ name: string; namedAt: Instant } | undefined> {
      const [reserved] = await query<{ name: string; namedAt: Instant }>(db, {
        name: 'find-reserved-channel-name',
        text: `select channel_name as name, named_at as "namedAt" from provisionings
          where workspace_id = $1 and incident_id = $2 and channel_name is not null`,
        values: [workspaceId, incidentId],
      });
      return reserved;
    },

    /** Stores the channel name that this and every later attempt requests. */
    async reserve(name: string, now: Instant): Promise<void> {
      await query(db, {
        name: 'set-channel-name',
        text: SET_CHANNEL_NAME,
        values: [workspaceId, incidentId, name, now],
      });
    },

    /** Returns whether another incident, of any workspace, has reserved this name: workspaces may share a chat. */
    async isUsedElsewhere(name: string): Promise<boolean> {
      const others = await query(db, {
        name: 'find-other-incident-with-channel-name',
        text: 'select incident_id from provisionings where channel_name = $1 and incident_id <> $2 limit 1',
        values: [name, incidentId],
      });
      return others.length > 0;
    },

    /** Lets the next attempt request another name. */
    async release(): Promise<void> {
      await query(db, {
        name: 'set-channel-name',
        text: SET_CHANNEL_NAME,
        values: [workspaceId, incidentId, null, null],
      });
    },
  };
}

/** The provisioning of a new incident. */
export interface NewProvisioning extends ProvisioningRequest {
  /** `dueAt` is null for a step that waits for another. */
  steps: readonly { key: StepKey; dueAt: Instant | null }[];
  now: Instant;
}

/**
 * Returns common table expressions that store the provisioning of the incident in `created`.
 * @param parameter SQL of the provisioning's JSON
 * @param workspaceId SQL of the workspace's ID
 */
export const insertProvisioning = (parameter: string, workspaceId: string) => `, requested as (
    insert into provisionings
      (workspace_id, incident_id, workspace_slug, is_demo, request_id, trace_context, marker, usergroups, created_at)
    select ${workspaceId}, created.id, request.*
    from created, jsonb_to_record(${parameter}::jsonb) as request
      (workspace_slug text, is_demo boolean, request_id text, trace_context text, marker text, usergroups text[],
        created_at timestamptz)
  ), stepped as (
    insert into provisioning_steps (workspace_id, incident_id, status, key, due_at, updated_at)
    select ${workspaceId}, created.id, 'pending', step.*
    from created, jsonb_to_recordset(${parameter}::jsonb -> 'steps') as step
      (key text, due_at timestamptz, updated_at timestamptz)
  )`;

/** Returns the JSON for `insertProvisioning`. */
export const provisioningParameter = ({
  workspace,
  requestId,
  marker,
  usergroups,
  steps,
  now,
}: NewProvisioning): string =>
  JSON.stringify({
    workspace_slug: workspace.slug,
    is_demo: workspace.is_demo,
    request_id: requestId,
    trace_context: storableTrace(),
    marker,
    usergroups,
    created_at: now,
    steps: steps.map(({ key, dueAt }) => ({ key, due_at: dueAt, updated_at: now })),
  });

/** Work that only this process may do until the lease expires. */
export interface ClaimedStep extends AttemptCounts {
  incidentId: number;
  workspaceId: number;
  key: WorkKey;
  lease: string;
  /** The ID of the request that caused it. */
  requestId: string;
  /** The trace of that request, as `storableTrace` returns it. */
  trace: string | null;
}

/** The new state of a step. */
interface StepUpdate extends Partial<AttemptCounts> {
  status: StepStatus;
  errorCode: ErrorCode | null;
  /** When the next attempt is due; missing if there is none. */
  dueAt?: Instant;
  now: Instant;
}

/** Milliseconds; a running attempt renews it. */
export const STEP_LEASE = 15_000;

const isBusy = (table: string) => `exists (
  select 1 from ${table} as busy
  where busy.workspace_id = step.workspace_id and busy.status = 'running' and busy.due_at > $1::timestamptz)`;

/** @param request the table with the request that caused the work */
const claimOf = ({ table, key, request }: { table: string; key: string; request: string }) => `
  with due as (
    select distinct on (workspace_id) workspace_id, incident_id, ${key} as key, due_at
    from ${table} as step
    where due_at <= $1::timestamptz and not ${isBusy('provisioning_steps')} and not ${isBusy('channel_updates')}
    order by workspace_id, due_at, incident_id
  ), first as (
    select workspace_id, incident_id, key from due order by due_at limit $2
  )
  update ${table} as step
  set status = 'running', attempts = step.attempts + 1, due_at = $3, lease = $4, updated_at = $1::timestamptz
  from first join ${request} as request
    on request.workspace_id = first.workspace_id and request.incident_id = first.incident_id
  where step.workspace_id = first.workspace_id and step.incident_id = first.incident_id and ${key} = first.key and step.due_at <= $1::timestamptz
  returning step.incident_id as "incidentId", step.workspace_id as "workspaceId", first.key, step.failures, step.waits,
    step.lease, request.request_id as "requestId", request.trace_context as trace`;

const FIRST_DUE = ['provisioning_steps', 'channel_updates'].map(
  (table) => `(select due_at from ${table} where due_at is not null order by due_at limit 1)`,
);

/** Channels come first. */
const CLAIMS = [
  claimOf({ table: 'provisioning_steps', key: 'step.key', request: 'provisionings' }),
  claimOf({ table: 'channel_updates', key: `'channel_updates'`, request: 'channel_updates' }),
];

const IS_OF_INCIDENT = 'workspace_id = $1 and incident_id = $2';

/** Where claimed work is stored; its condition takes the workspace, the incident, the key and the lease. */
const placeOf = (key: WorkKey) =>
  key === 'channel_updates'
    ? { table: 'channel_updates', isClaimed: `${IS_OF_INCIDENT} and $3::text = 'channel_updates' and lease = $4` }
    : { table: 'provisioning_steps', isClaimed: `${IS_OF_INCIDENT} and key = $3 and lease = $4` };

/** The queue of the work of all incidents, over a pool or a transaction. */
export function stepQueue(db: Knex) {
  return {
    /**
     * Claims work that is due or whose lease has expired: at most one item for each workspace, and none for a workspace with
     * a running one, so that one workspace's slow chat does not delay the others.
     */
    async claim({ now, limit }: { now: Instant; limit: number }): Promise<ClaimedStep[]> {
      const claimed: ClaimedStep[] = [];
      for (const claim of CLAIMS) {
        const values = [now, limit - claimed.length, addMilliseconds(now, STEP_LEASE), randomUUID()];
        claimed.push(...(await query<ClaimedStep>(db, { text: claim, values })));
      }
      return claimed;
    },

    /** Returns when the next work is due. */
    async nextDue(): Promise<Instant | undefined> {
      const text = `select least(${FIRST_DUE.join(', ')}) as due`;
      const [row] = await query<{ due: Instant | null }>(db, { name: 'next-work-in-chat', text, isPoll: true });
      return row?.due ?? undefined;
    },

    /** Renews the lease of a running attempt. */
    async extendLease({ workspaceId, incidentId, key, lease }: ClaimedStep, now: Instant): Promise<void> {
      const { table, isClaimed } = placeOf(key);
      await query(db, {
        name: `extend-lease-in-${table}`,
        text: `update ${table} set due_at = $5 where ${isClaimed}`,
        values: [workspaceId, incidentId, key, lease, addMilliseconds(now, STEP_LEASE)],
      });
    },

    /** Stores the result of an attempt. Returns false and writes nothing if the lease was lost. */
    async finish(claim: ClaimedStep, { status, errorCode, dueAt, now, failures, waits }: StepUpdate): Promise<boolean> {
      const { workspaceId, incidentId, key, lease } = claim;
      const { table, isClaimed } = placeOf(key);
      const finished = await query(db, {
        name: `finish-attempt-in-${table}`,
        text: `update ${table} set status = $5, error_code = $6, due_at = $7, lease = null, updated_at = $8, failures = $9,
            waits = $10
          where ${isClaimed} returning incident_id`,
        values: [
          ...[workspaceId, incidentId, key, lease, status, errorCode, dueAt ?? null, now],
          ...[failures ?? claim.failures, waits ?? claim.waits],
        ],
      });
      return finished.length === 1;
    },

    /** Updates a step that waits for another: makes it due or failed. */
    async updateWaiting(
      { workspaceId, incidentId, key }: ProvisionedIncident & { key: StepKey },
      { status, errorCode, dueAt, now }: StepUpdate,
    ): Promise<void> {
      await query(db, {
        name: 'update-waiting-provisioning-step',
        text: `update provisioning_steps set status = $4, error_code = $5, due_at = $6, updated_at = $7
          where ${IS_OF_INCIDENT} and key = $3 and status = 'pending' and due_at is null`,
        values: [workspaceId, incidentId, key, status, errorCode, dueAt ?? null, now],
      });
    },
  };
}
