import { type Instant, storableTrace } from '@tocsin/runtime';
import type { StepKey } from '../domain/provisioning.ts';
import type { ProvisioningRequest } from './provisioning-store.ts';

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
      (incident_id, workspace_id, workspace_slug, is_demo, request_id, trace_context, marker, usergroups, created_at)
    select created.id, ${workspaceId}, request.*
    from created, jsonb_to_record(${parameter}::jsonb) as request
      (workspace_slug text, is_demo boolean, request_id text, trace_context text, marker text, usergroups text[],
        created_at timestamptz)
  ), stepped as (
    insert into provisioning_steps (incident_id, workspace_id, status, key, due_at, updated_at)
    select created.id, ${workspaceId}, 'pending', step.*
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
