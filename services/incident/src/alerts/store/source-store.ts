import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Principal } from '@tocsin/schemas';
import type { Minute } from '../domain/known.ts';

/** What is known of a monitor. */
export interface AlertSource extends Minute {
  /** The minute that it counts in. */
  minute: Instant | null;
  members: number;
  /** Whether something of it may be overdue. */
  hasSender: boolean;
}

export interface Monitor {
  workspaceId: number;
  /** The first key of the rotations. */
  monitorId: number;
}

/** The one that sends alerts: a key, which is the same monitor as those that it replaced by rotation. */
export interface AlertSender extends Monitor {
  keyId: number;
}

/** Who acts when something of the monitor is overdue: the key that it has now. */
export const keepSender = ({ workspaceId, monitorId }: Monitor, sender: Principal): Statement => ({
  name: 'keep-alert-sender',
  text: 'update alert_sources set sender = $3 where workspace_id = $1 and key_id = $2 and sender is distinct from $3',
  values: [workspaceId, monitorId, JSON.stringify(sender)],
});

/** The row of a monitor, over a pool or a transaction. */
export function sourceStore(db: Knex, { workspaceId, monitorId }: Monitor) {
  const monitor = [workspaceId, monitorId];
  return {
    /** Locks the monitor until the transaction ends, so that its notifications are handled one after the other. */
    async lock(): Promise<AlertSource> {
      await query(db, {
        name: 'add-alert-source',
        text: 'insert into alert_sources (workspace_id, key_id) values ($1, $2) on conflict do nothing',
        values: monitor,
      });
      const [source] = await query<AlertSource>(db, {
        name: 'lock-alert-source',
        text: `select minute, declared, last_incident_id as "lastIncidentId", groups, members,
          sender is not null as "hasSender"
        from alert_sources where workspace_id = $1 and key_id = $2 for update`,
        values: monitor,
      });
      return source as AlertSource;
    },

    save: async ({ minute, declared, lastIncidentId, groups, members }: Omit<AlertSource, 'hasSender'>) =>
      query(db, {
        name: 'save-alert-source',
        text: `update alert_sources set minute = $3, declared = $4, last_incident_id = $5, groups = $6, members = $7
        where workspace_id = $1 and key_id = $2`,
        values: [...monitor, minute, declared, lastIncidentId, groups, members],
      }),
  };
}
