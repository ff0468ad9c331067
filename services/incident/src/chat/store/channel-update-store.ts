import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import { BY_IMPORT } from '../../incidents/store/changelog-store.ts';
import type { WorkProgress } from '../domain/provisioning.ts';
import type { ClaimedStep, ProvisionedIncident } from './provisioning-store.ts';

/** Entries of the changelog that are read for one message. */
const MAX_ENTRIES = 50;

/** What other systems said of their past is no news. */
const READ_DUE = `
  select entry.id, due.last_entry as "lastEntry",
    case when coalesce(entry.import_key, '${BY_IMPORT}') = '${BY_IMPORT}' then entry.changes else '[]' end as changes
  from channel_updates as due join changelog as entry
    on entry.workspace_id = due.workspace_id and entry.incident_id = due.incident_id and entry.id > due.posted_entry and entry.id <= due.last_entry
  where due.workspace_id = $1 and due.incident_id = $2 and due.lease = $3
  order by entry.id limit ${MAX_ENTRIES}`;

const SET_POSTED = `
  update channel_updates set posted_entry = $4::bigint, lease = null, failures = 0, waits = 0, error_code = null,
    status = case when last_entry > $4::bigint then 'pending' else 'succeeded' end,
    due_at = case when last_entry > $4::bigint then $5::timestamptz end, updated_at = $5::timestamptz
  where workspace_id = $1 and incident_id = $2 and lease = $3`;

/** Stores how far the changes of incidents are posted into their channels, over a pool or a transaction. */
export function channelUpdateStore(db: Knex) {
  return {
    /** The changes that are to be posted next, and the entry of the changelog up to which they go; undefined if there are none. */
    async readDue({
      workspaceId,
      incidentId,
      lease,
    }: ClaimedStep): Promise<{ changes: Change[]; upTo: number } | undefined> {
      const entries = await query<{ id: number; lastEntry: number; changes: Change[] }>(db, {
        name: 'read-due-channel-updates',
        text: READ_DUE,
        values: [workspaceId, incidentId, lease],
      });
      const last = entries.at(-1);
      if (last === undefined) return undefined;
      const upTo = entries.length < MAX_ENTRIES ? last.lastEntry : last.id;
      return { changes: entries.flatMap(({ changes }) => changes), upTo };
    },

    /** Stores up to which entry the changes are posted; they are due again if there are others. Writes nothing if the lease was lost. */
    async setPosted({ workspaceId, incidentId, lease }: ClaimedStep, upTo: number, now: Instant): Promise<void> {
      const values = [workspaceId, incidentId, lease, upTo, now];
      await query(db, { name: 'set-posted-channel-updates', text: SET_POSTED, values });
    },

    /** The progress of an incident's messages; undefined if none was ever due. */
    async find({ workspaceId, incidentId }: ProvisionedIncident): Promise<WorkProgress | undefined> {
      const [progress] = await query<WorkProgress>(db, {
        name: 'find-channel-updates',
        text: `select status, attempts, error_code as "errorCode", updated_at as "updatedAt" from channel_updates
          where workspace_id = $1 and incident_id = $2`,
        values: [workspaceId, incidentId],
      });
      return progress;
    },

    /** Makes failed messages due again. Returns whether there were any. */
    async retry({ workspaceId, incidentId }: ProvisionedIncident, now: Instant): Promise<boolean> {
      const retried = await query(db, {
        name: 'retry-channel-updates',
        text: `update channel_updates
          set status = 'pending', failures = 0, waits = 0, error_code = null, due_at = $3, updated_at = $3
          where workspace_id = $1 and incident_id = $2 and status = 'failed' returning incident_id`,
        values: [workspaceId, incidentId, now],
      });
      return retried.length === 1;
    },
  };
}
