import { z } from 'zod';
import { customFieldDefinition } from './custom-field-definition.ts';
import { instant } from './envelope.ts';
import { largeValue } from './large-value.ts';
import { timestampInput } from './timestamp.ts';

const id = z.int().min(1);
/** Counts the changes to one owner's data in one workspace; see `Versions` in the runtime. */
const version = z.int().min(1);

/** An incident as published in events; the API returns the whole resource. */
export const incidentSnapshot = z.object({
  id,
  reference: z.string(),
  revision: z.int().min(1),
  title: z.string(),
  service: z.string(),
  regions: z.array(z.string()),
  severity: z.string(),
  status: z.string(),
  issue_type: z.string(),
  impact_summary: z.string(),
  team_id: id.nullable(),
  created_at: instant,
  created_by: z.string(),
  archived_at: instant.nullable(),
});

export const teamSnapshot = z.object({
  id,
  revision: z.int().min(1),
  name: z.string(),
  slug: z.string(),
  parent_team_id: id.nullable(),
  archived_at: instant.nullable(),
});

export const serviceSnapshot = z.object({
  id,
  revision: z.int().min(1),
  name: z.string(),
  slug: z.string(),
  tier: z.string(),
  owner_team_id: id.nullable(),
  archived_at: instant.nullable(),
});

export const userSnapshot = z.object({
  id,
  email: z.string(),
  name: z.string(),
  active: z.boolean(),
  seat: z.enum(['responder', 'none']),
  role: z.enum(['owner', 'admin', 'manager', 'member', 'viewer']),
});

export const workspaceSnapshot = z.object({
  name: z.string(),
  history_days: z.number().positive().nullable(),
  reporting_currency: z.string(),
  short_title_required: z.boolean(),
});

const changedValue = z.union([largeValue, z.unknown()]);
const change = z.object({ field: z.string(), from: changedValue, to: changedValue });

/** The schema of `data` for every event type, published and consumed. */
export const eventData = {
  'incident.created': z.object({ incident: incidentSnapshot }),
  'incident.updated': z.object({ incident: incidentSnapshot, changes: z.array(change) }),
  'incident.archived': z.object({ incident: incidentSnapshot }),
  'incident.restored': z.object({ incident: incidentSnapshot }),
  'service.changed': z.object({ version, service: serviceSnapshot }),
  'team.changed': z.object({ version, team: teamSnapshot }),
  'custom-field.changed': z.object({ version, field: customFieldDefinition }),
  'workspace.changed': z.object({ version, workspace: workspaceSnapshot }),
  'user.changed': z.object({ version, user: userSnapshot }),
  'customer-impact.updated': z.object({
    workspace_id: id,
    incident_id: id,
    affected_customers: z.int().min(0),
    mrr: z.array(z.object({ currency: z.string().regex(/^[A-Z]{3}$/), amount_minor: z.int().min(0) })),
    as_of: timestampInput,
  }),
  'investigation.run.updated': z.object({
    workspace_id: id,
    incident_id: id,
    run_id: z
      .string()
      .min(1)
      .max(128)
      .refine(
        (text) => text.isWellFormed() && !text.includes('\0'),
        'Must not contain U+0000 or an unpaired surrogate',
      ),
    status: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled', 'unavailable']),
    started_at: timestampInput,
    completed_at: timestampInput.optional(),
  }),
} as const;

export type EventType = keyof typeof eventData;
export type EventData<Type extends EventType> = z.infer<(typeof eventData)[Type]>;
export type IncidentSnapshot = z.infer<typeof incidentSnapshot>;
export type TeamSnapshot = z.infer<typeof teamSnapshot>;
export type ServiceSnapshot = z.infer<typeof serviceSnapshot>;
export type UserSnapshot = z.infer<typeof userSnapshot>;
export type WorkspaceSnapshot = z.infer<typeof workspaceSnapshot>;
