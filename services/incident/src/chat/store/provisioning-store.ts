import type { EventWorkspace } from '@tocsin/contracts';
import type { ErrorCode } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import {
  type Provisioning,
  type ProvisioningStep,
  STEP_KEYS,
  type StepKey,
  type StepStatus,
  notRequestedStep,
} from '../domain/provisioning.ts';

/** The provisioning request of an incident: the input of its steps. */
export interface ProvisioningRequest {
  workspace: EventWorkspace;
  requestId: string;
  /** Identifies the incident's channel; part of the channel's purpose. */
  marker: string;
  usergroups: readonly string[];
}

interface StepRow {
  key: StepKey;
  status: StepStatus;
  attempts: number;
  error_code: ErrorCode | null;
  updated_at: Instant;
}

interface RequestRow {
  workspace_id: number;
  workspace_slug: string;
  is_demo: boolean;
  request_id: string;
  marker: string;
  usergroups: string[];
}

/** Stores the provisionings of incidents, over a pool or a transaction. */
export function provisioningStore(db: Knex) {
  return {
    /** Returns the provisioning of an incident; `undefined` if none was requested. */
    async find(incidentId: number): Promise<Provisioning | undefined> {
      const request = await db('provisionings')
        .where({ incident_id: incidentId })
        .first<{ created_at: Instant } | undefined>('created_at');
      if (request === undefined) return undefined;
      const rows = await db('provisioning_steps')
        .where({ incident_id: incidentId })
        .select<StepRow[]>('key', 'status', 'attempts', 'error_code', 'updated_at');
      const steps = STEP_KEYS.map((key): ProvisioningStep => {
        const row = rows.find((candidate) => candidate.key === key);
        if (row === undefined) return notRequestedStep(key, request.created_at);
        const { status, attempts, error_code: errorCode, updated_at: updatedAt } = row;
        return { key, status, attempts, errorCode, updatedAt };
      });
      return { incidentId, steps, createdAt: request.created_at };
    },

    async getRequest(incidentId: number): Promise<ProvisioningRequest> {
      const row = await db('provisionings')
        .where({ incident_id: incidentId })
        .first<RequestRow | undefined>(
          'workspace_id',
          'workspace_slug',
          'is_demo',
          'request_id',
          'marker',
          'usergroups',
        );
      if (row === undefined) throw new Error(`incident ${incidentId} has no provisioning`);
      return {
        workspace: { id: row.workspace_id, slug: row.workspace_slug, is_demo: row.is_demo },
        requestId: row.request_id,
        marker: row.marker,
        usergroups: row.usergroups,
      };
    },

    /** Makes failed steps due again. Returns their number. */
    async retry(incidentId: number, keys: readonly StepKey[], now: Instant): Promise<number> {
      return db('provisioning_steps')
        .where({ incident_id: incidentId, status: 'failed' })
        .whereIn('key', keys)
        .update({ status: 'pending', failures: 0, waits: 0, error_code: null, due_at: now, updated_at: now });
    },

    /** Makes a pending step wait for another. */
    async makeWait(incidentId: number, key: StepKey): Promise<void> {
      await db('provisioning_steps')
        .where({ incident_id: incidentId, key, status: 'pending' })
        .update({ due_at: null });
    },

    /** Returns the channel name that an earlier attempt reserved, and when. */
    async findReservedName(incidentId: number): Promise<{ name: string; namedAt: Instant } | undefined> {
      const row = await db('provisionings')
        .where({ incident_id: incidentId })
        .whereNotNull('channel_name')
        .first<{ channel_name: string; named_at: Instant } | undefined>('channel_name', 'named_at');
      return row && { name: row.channel_name, namedAt: row.named_at };
    },

    /** Stores the channel name that this and every later attempt requests. */
    async reserveName(incidentId: number, name: string, now: Instant): Promise<void> {
      await db('provisionings').where({ incident_id: incidentId }).update({ channel_name: name, named_at: now });
    },

    /** Returns whether another incident, of any workspace, has reserved this name. */
    async isNameUsedElsewhere(name: string, incidentId: number): Promise<boolean> {
      const row = await db('provisionings')
        .where({ channel_name: name })
        .whereNot({ incident_id: incidentId })
        .first<{ incident_id: number } | undefined>('incident_id');
      return row !== undefined;
    },

    /** Lets the next attempt request another name. */
    async releaseName(incidentId: number): Promise<void> {
      await db('provisionings').where({ incident_id: incidentId }).update({ channel_name: null, named_at: null });
    },
  };
}
