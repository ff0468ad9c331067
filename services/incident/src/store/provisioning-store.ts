import type { EventWorkspace } from '@tocsin/contracts';
import type { ErrorCode } from '@tocsin/http';
import type { Instant, Knex } from '@tocsin/runtime';
import {
  type Provisioning,
  type ProvisioningStep,
  STEP_KEYS,
  type StepKey,
  type StepStatus,
  untouched,
} from '../domain/provisioning.ts';

/** What was asked for an incident, with what its steps need. */
export interface ProvisioningRequest {
  workspace: EventWorkspace;
  requestId: string;
  /** In the purpose of the incident's channel. */
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

/** What is set up for incidents, over a pool or a transaction. */
export function provisioningStore(db: Knex) {
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
          'workspace_id',
          'workspace_slug',
          'is_demo',
          'request_id',
          'marker',
          'usergroups',
        );
      if (row === undefined) throw new Error(`nothing is provisioned for incident ${incidentId}`);
      return {
        workspace: { id: row.workspace_id, slug: row.workspace_slug, is_demo: row.is_demo },
        requestId: row.request_id,
        marker: row.marker,
        usergroups: row.usergroups,
      };
    },

    /** Asks for failed steps again. Answers how many there were. */
    async retry(incidentId: number, keys: readonly StepKey[], now: Instant): Promise<number> {
      return db('provisioning_steps')
        .where({ incident_id: incidentId, status: 'failed' })
        .whereIn('key', keys)
        .update({ status: 'pending', failures: 0, waits: 0, error_code: null, due_at: now, updated_at: now });
    },

    /** Makes a step wait for another. */
    async hold(incidentId: number, key: StepKey): Promise<void> {
      await db('provisioning_steps')
        .where({ incident_id: incidentId, key, status: 'pending' })
        .update({ due_at: null });
    },

    /** The name that an earlier attempt fixed, and when. */
    async findName(incidentId: number): Promise<{ name: string; namedAt: Instant } | undefined> {
      const row = await db('provisionings')
        .where({ incident_id: incidentId })
        .whereNotNull('channel_name')
        .first<{ channel_name: string; named_at: Instant } | undefined>('channel_name', 'named_at');
      return row && { name: row.channel_name, namedAt: row.named_at };
    },

    /** Fixes the name that this and every later attempt asks for. */
    async fixName(incidentId: number, name: string, now: Instant): Promise<void> {
      await db('provisionings').where({ incident_id: incidentId }).update({ channel_name: name, named_at: now });
    },

    /** Whether another incident, of whichever workspace, asks or has asked for a channel of this name. */
    async isWantedElsewhere(name: string, incidentId: number): Promise<boolean> {
      const row = await db('provisionings')
        .where({ channel_name: name })
        .whereNot({ incident_id: incidentId })
        .first<{ incident_id: number } | undefined>('incident_id');
      return row !== undefined;
    },

    /** The next attempt may ask for another name: no channel of ours has this one. */
    async forgetName(incidentId: number): Promise<void> {
      await db('provisionings').where({ incident_id: incidentId }).update({ channel_name: null, named_at: null });
    },
  };
}
