import { invalidState } from '@tocsin/http';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import type { Principal } from '@tocsin/schemas';
import { digestOf } from '../domain/alert.ts';
import { type Heartbeat, heartbeatIdentity } from '../domain/overdue.ts';
import { visible } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { keepSender, type Monitor, sourceStore } from './source-store.ts';

/** Heartbeats of a workspace. */
export const MAX_HEARTBEATS = 100;
/** Seconds after which the alert of a heartbeat that is missed fires again, as monitors repeat what fires. */
const REPEAT = 3_600;

const HEARTBEAT = `id, name, within, heard_at as "heardAt", due_at as "dueAt", missed_at as "missedAt", options`;

export interface ListedHeartbeat extends Heartbeat {
  keyId: number;
  incidentId: number | null;
  incidentNumber: number | null;
}

type HeardOf = Pick<Heartbeat, 'name' | 'within' | 'options'>;

const LOCK_HEARTBEATS = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';

export const tooManyHeartbeats = () => invalidState(`A workspace has at most ${MAX_HEARTBEATS} heartbeats`);

const dueAt = (now: Instant, seconds: number) => addMilliseconds(now, 1_000 * seconds);

/** The heartbeats of a monitor, over a pool or a transaction. */
export function heartbeatStore(db: Knex, { workspaceId, monitorId }: Monitor) {
  const monitor = [workspaceId, monitorId];
  return {
    /** A heartbeat that is known and not missed was heard. Returns undefined for another one. */
    async hear({ name, within, options }: HeardOf, sender: Principal, now: Instant): Promise<Heartbeat | undefined> {
      const hear: Statement<Heartbeat> = {
        name: 'hear-heartbeat',
        text: `update alert_heartbeats set heard_at = $4, due_at = $5, within = $6, options = $7
          where workspace_id = $1 and key_id = $2 and name = $3 and missed_at is null returning ${HEARTBEAT}`,
        values: [...monitor, name, now, dueAt(now, within), within, JSON.stringify(options)],
      };
      const [[row]] = await pipeline(db, [hear, keepSender({ workspaceId, monitorId }, sender)]);
      return row;
    },

    /**
     * Stores a heartbeat that was heard. The row of the monitor must be locked. Returns it with whether it was missed.
     * @throws DomainError `invalid_resource_state` if the workspace has too many
     */
    async keep({ name, within, options }: HeardOf, now: Instant) {
      const [before] = await query<{ missedAt: Instant | null }>(db, {
        name: 'find-heartbeat',
        text: `select missed_at as "missedAt" from alert_heartbeats
        where workspace_id = $1 and key_id = $2 and name = $3 for update`,
        values: [...monitor, name],
      });
      if (before === undefined) {
        // Two monitors that add heartbeats count one after the other. It comes after the lock of the monitor.
        await query(db, { name: 'lock-heartbeats', text: LOCK_HEARTBEATS, values: [`heartbeats-${workspaceId}`] });
        const [row] = await query<{ count: number }>(db, {
          name: 'count-heartbeats',
          text: 'select count(*)::int as count from alert_heartbeats where workspace_id = $1',
          values: [workspaceId],
        });
        if ((row?.count ?? 0) >= MAX_HEARTBEATS) throw tooManyHeartbeats();
      }
      const [stored] = await query<Heartbeat>(db, {
        name: 'keep-heartbeat',
        text: `insert into alert_heartbeats (workspace_id, key_id, name, within, heard_at, due_at, options)
        values ($1, $2, $3, $4, $5, $6, $7)
        on conflict (workspace_id, key_id, name) do update set within = excluded.within, heard_at = excluded.heard_at,
          due_at = excluded.due_at, missed_at = null, options = excluded.options
        returning ${HEARTBEAT}`,
        values: [...monitor, name, within, now, dueAt(now, within), JSON.stringify(options)],
      });
      return { heartbeat: stored as Heartbeat, wasMissed: (before?.missedAt ?? null) !== null };
    },

    /** Marks a heartbeat as missed if it still is. The row of the monitor must be locked. */
    async miss(id: number, now: Instant): Promise<boolean> {
      const rows = await query(db, {
        name: 'miss-heartbeat',
        text: `update alert_heartbeats set missed_at = coalesce(missed_at, $4), due_at = $5
        where workspace_id = $1 and key_id = $2 and id = $3 and due_at <= $4 returning id`,
        values: [...monitor, id, now, dueAt(now, REPEAT)],
      });
      return rows.length > 0;
    },
  };
}

/** The heartbeats of a workspace by name, with the incidents of those that are missed. */
export async function listHeartbeats(database: Knex, workspaceId: number): Promise<ListedHeartbeat[]> {
  const rows = await query<Omit<ListedHeartbeat, 'incidentId' | 'incidentNumber'>>(database, {
    name: 'list-heartbeats',
    text: `select ${HEARTBEAT}, key_id as "keyId" from alert_heartbeats where workspace_id = $1 order by name, id`,
    values: [workspaceId],
  });
  const incidents = await query<{ keyId: number; digest: string; incidentId: number; incidentNumber: number }>(
    database,
    {
      name: 'list-heartbeat-incidents',
      text: `select own.key_id as "keyId", own.digest, incident.id as "incidentId", incident.number as "incidentNumber"
    from unnest((select $2::bigint[]), (select $3::text[])) as own (key_id, digest)
      cross join lateral (
        select incident_id from alert_groups
        where workspace_id = $1 and key_id = own.key_id and identity = decode(own.digest, 'hex') offset 0) as known
      cross join lateral (
        select id, number from incidents
        where workspace_id = $1 and id = known.incident_id and ${visible('incidents', 4)} offset 0) as incident`,
      values: [
        workspaceId,
        rows.map(({ keyId }) => keyId),
        rows.map(({ name }) => digestOf(heartbeatIdentity(name))),
        currentViewer(),
      ],
    },
  );
  return rows.map((row): ListedHeartbeat => {
    const incident = incidents.find(
      ({ keyId, digest }) => keyId === row.keyId && digest === digestOf(heartbeatIdentity(row.name)),
    );
    return { ...row, incidentId: incident?.incidentId ?? null, incidentNumber: incident?.incidentNumber ?? null };
  });
}

/** Forgets a heartbeat with its alert, whose incident stays for a person. Returns whether there was one. */
export async function deleteHeartbeat(database: Knex, workspaceId: number, id: number): Promise<boolean> {
  return database.transaction(async (trx) => {
    const [heartbeat] = await query<{ keyId: number; name: string }>(trx, {
      name: 'find-heartbeat-by-id',
      text: 'select key_id as "keyId", name from alert_heartbeats where workspace_id = $1 and id = $2',
      values: [workspaceId, id],
    });
    if (heartbeat === undefined) return false;
    await sourceStore(trx, { workspaceId, monitorId: heartbeat.keyId }).lock();
    const rows = await query(trx, {
      name: 'delete-heartbeat',
      text: 'delete from alert_heartbeats where workspace_id = $1 and id = $2 returning id',
      values: [workspaceId, id],
    });
    await query(trx, {
      name: 'delete-heartbeat-group',
      text: "delete from alert_groups where workspace_id = $1 and key_id = $2 and identity = decode($3, 'hex')",
      values: [workspaceId, heartbeat.keyId, digestOf(heartbeatIdentity(heartbeat.name))],
    });
    return rows.length > 0;
  });
}
