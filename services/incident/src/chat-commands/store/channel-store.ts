import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { visible } from '../../visibility/store/visible.ts';

/** The number of the latest incident of a channel that is not archived, of those that the request may see. */
export async function findNumberOfChannel(
  db: Knex,
  { workspaceId, channelId }: { workspaceId: number; channelId: string },
): Promise<number | undefined> {
  const [incident] = await query<{ number: number }>(db, {
    name: 'find-incident-of-channel',
    text: `select number from incidents
      where workspace_id = $1 and slack_channel_id = $2 and slack_channel_id <> '' and archived_at is null
        and ${visible('incidents', 3)}
      order by number desc limit 1`,
    values: [workspaceId, channelId, currentViewer()],
  });
  return incident?.number;
}

/** Whether the timeline of an incident that the request may see has an event at this moment with this text in its body. */
export async function hasEventWith(
  db: Knex,
  { workspaceId, incidentId, at, text }: { workspaceId: number; incidentId: number; at: Instant; text: string },
): Promise<boolean> {
  const rows = await query(db, {
    name: 'find-event-with-text',
    text: `select 1 from timeline_events as event
      join incidents on incidents.workspace_id = event.workspace_id and incidents.id = event.incident_id
      where event.workspace_id = $1 and event.incident_id = $2 and event.started_at = $3
        and strpos(event.body, $4) > 0 and ${visible('incidents', 5)} limit 1`,
    values: [workspaceId, incidentId, at, text, currentViewer()],
  });
  return rows.length > 0;
}
