import type { Statement } from '@tocsin/postgres';
import { type Instant, storableTrace } from '@tocsin/runtime';
import type { Change } from '../domain/changes.ts';
import type { Incident } from '../domain/incident.ts';

/** What changes the topic of an incident's channel, or is posted into it. A new channel only has to name who is there. */
const isShown = (field: string, { incidentManager, roles }: Incident) =>
  field === 'status' ||
  field === 'severity' ||
  field === 'incident_manager' ||
  field.startsWith('roles.') ||
  (field === 'slack_channel_id' && (incidentManager !== '' || Object.keys(roles).length > 0));

/** What waits, runs or has failed keeps its place in the changelog; so nothing is left out after a failure. */
const DUE = `
  insert into channel_updates as due
    (workspace_id, incident_id, posted_entry, last_entry, status, due_at, request_id, trace_context, updated_at)
  select $1, $2, latest.id - 1, latest.id, 'pending', $3, $4, $5, $3
  from chat_connections
  cross join (select max(id) as id from changelog where workspace_id = $1 and incident_id = $2) as latest
  where workspace_id = $1 and posts_updates
  on conflict (workspace_id, incident_id) do update set
    posted_entry = case when due.status = 'succeeded' then excluded.posted_entry else due.posted_entry end,
    last_entry = excluded.last_entry,
    status = case when due.status = 'running' then due.status else 'pending' end,
    due_at = coalesce(due.due_at, excluded.due_at),
    failures = case when due.due_at is null then 0 else due.failures end,
    waits = case when due.due_at is null then 0 else due.waits end,
    request_id = excluded.request_id, trace_context = excluded.trace_context, updated_at = excluded.updated_at`;

/**
 * Makes a message about a change due in the channel of the incident, if it has one and the workspace wants that (contract:
 * Chat). Comes after the entry of the changelog.
 */
export function dueChannelUpdate(
  incident: Incident,
  { changes, requestId, now }: { changes: readonly Change[]; requestId: string; now: Instant },
): Statement[] {
  const { id, workspaceId, slackChannelId } = incident;
  if (slackChannelId === '' || !changes.some(({ field }) => isShown(field, incident))) return [];
  return [{ name: 'due-channel-update', text: DUE, values: [workspaceId, id, now, requestId, storableTrace()] }];
}
