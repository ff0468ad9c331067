import { z } from 'zod';

/** The properties of every entry of the workspace's configuration. */
const entry = {
  key: z.string().meta({ description: 'Names the entry in requests and incidents; unique in its list' }),
  label: z.string().meta({ description: 'The name for people' }),
  order: z.int().min(0).meta({ description: 'The place in the list, from 0' }),
  is_default: z
    .boolean()
    .meta({ description: 'Whether a new incident gets it if the request names none; one entry has it' }),
};
const color = z.string().meta({ description: 'A color for user interfaces, such as `#d92d20`' });

export const workflowStatusesReply = z.strictObject({
  workflow_statuses: z
    .array(
      z
        .strictObject({
          ...entry,
          is_terminal: z.boolean().meta({ description: 'Whether an incident with this status has ended' }),
          is_escalation_threshold: z.boolean().meta({
            description: 'Whether the workspace escalates incidents from this status on; Tocsin itself does not',
          }),
          color,
        })
        .meta({ id: 'WorkflowStatus' }),
    )
    .meta({ description: 'All statuses of the workspace, in workflow order' }),
});

export const incidentRolesReply = z.strictObject({
  incident_roles: z
    .array(
      z
        .strictObject({
          key: entry.key,
          label: entry.label,
          description: z.string().meta({ description: 'What its holder does; empty: not described' }),
          several_holders: z.boolean().meta({ description: 'Whether several people may hold it at once' }),
        })
        .meta({ id: 'IncidentRole' }),
    )
    .meta({ description: 'All roles in a response, beside manager and responders, in their order' }),
});

export const severitiesReply = z.strictObject({
  severities: z
    .array(
      z
        .strictObject({
          ...entry,
          min_score: z.number().min(0).meta({ description: 'The lowest score that has this severity' }),
          restricted: z.boolean().meta({
            description: 'Whether a new incident with it is restricted unless the request says otherwise',
          }),
          description: z.string().meta({ description: 'When to choose it; empty: not described' }),
          color,
        })
        .meta({ id: 'Severity' }),
    )
    .meta({ description: 'All severities of the workspace, the most severe first' }),
});
