import type { EventWorkspace } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import {
  type Provisioning,
  type ProvisioningStep,
  STEP_KEYS,
  type StepKey,
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

/** Stores the provisionings of incidents, over a pool or a transaction. */
export function provisioningStore(db: Knex) {
  return {
    /** Returns the provisioning of an incident; `undefined` if none was requested. */
    async find(incidentId: number): Promise<Provisioning | undefined> {
      const request = await db('provisionings')
        .where({ incident_id: incidentId })
        .first<{ createdAt: Instant } | undefined>('created_at as createdAt');
      if (request === undefined) return undefined;
      const rows = await db('provisioning_steps')
        .where({ incident_id: incidentId })
        .select<ProvisioningStep[]>('key', 'status', 'attempts', 'error_code as errorCode', 'updated_at as updatedAt');
      const steps = STEP_KEYS.map(
        (key) => rows.find((step) => step.key === key) ?? notRequestedStep(key, request.createdAt),
      );
      return { incidentId, steps, ...request };
    },

    async getRequest(incidentId: number): Promise<ProvisioningRequest> {
      const request = await db('provisionings')
        .where({ incident_id: incidentId })
        .first<(EventWorkspace & Omit<ProvisioningRequest, 'workspace'>) | undefined>(
          'workspace_id as id',
          'workspace_slug as slug',
          'is_demo',
          'request_id as requestId',
          'marker',
          'usergroups',
        );
      if (request === undefined) throw new Error(`incident ${incidentId} has no provisioning`);
      const { id, slug, is_demo, ...rest } = request;
      return { workspace: { id, slug, is_demo }, ...rest };
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
    findReservedName: async (incidentId: number): Promise<{ name: string; namedAt: Instant } | undefined> =>
      db('provisionings')
        .where({ incident_id: incidentId })
        .whereNotNull('channel_name')
        .first<{ name: string; namedAt: Instant } | undefined>('channel_name as name', 'named_at as namedAt'),

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
