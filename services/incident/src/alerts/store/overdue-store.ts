import { invalidState } from '@tocsin/http';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import type { Principal } from '@tocsin/schemas';
import { digestOf } from '../domain/alert.ts';
import { type Heartbeat, heartbeatIdentity, type Quiet } from '../domain/overdue.ts';
import { type AlertSender, alertStore } from './alert-store.ts';

/** Heartbeats of a workspace. */
export const MAX_HEARTBEATS = 100;
/** What is overdue and read at once. */
const AT_ONCE = 50;
/**
 * Milliseconds between two looks after which this system, and not monitors, was silent: it moves all that is due by as
 * much.
 */
const LONGEST_TICK = 30_000;

const HEARTBEAT = `id, name, within, heard_at as "heardAt", due_at as "dueAt", missed_at as "missedAt", options`;

export interface ListedHeartbeat extends Heartbeat {
  keyId: number;
  incidentId: number | null;
  incidentNumber: number | null;
}

type HeardOf = Pick<Heartbeat, 'name' | 'within' | 'options'>;

/** What is due, or fires since it was missed, with the principal of the latest request of its monitor. */
export interface Due {
  sender: Principal;
  heartbeat?: Heartbeat;
  quiet?: Quiet & { digest: string };
}

/** Seconds after which the alert of a heartbeat that is missed fires again, as monitors repeat what fires. */
const REPEAT = 3_600;
/** Seconds after which it is tried again. */
const RETRY = 60;

const LOCK_HEARTBEATS = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';

export const tooManyHeartbeats = () => invalidState(`A workspace has at most ${MAX_HEARTBEATS} heartbeats`);

/** Heartbeats, and groups of which something must be heard, over a pool or a transaction. */
export function overdueStore(db: Knex, { workspaceId, monitorId }: Pick<AlertSender, 'workspaceId' | 'monitorId'>) {
  const monitor = [workspaceId, monitorId];
  const dueAt = (now: Instant, seconds: number) => addMilliseconds(now, 1_000 * seconds);
  /** Keeps who acts when something is overdue: the key that the monitor has now. */
  const keepSender = (sender: Principal): Statement => ({
    name: 'keep-alert-sender',
    text: 'update alert_sources set sender = $3 where workspace_id = $1 and key_id = $2 and sender is distinct from $3',
    values: [...monitor, JSON.stringify(sender)],
  });
  return {
    async keepSender(sender: Principal): Promise<void> {
      await query(db, keepSender(sender));
    },

    /** A heartbeat that is known and not missed was heard. Returns undefined for another one. */
    async hear({ name, within, options }: HeardOf, sender: Principal, now: Instant): Promise<Heartbeat | undefined> {
      const hear: Statement<Heartbeat> = {
        name: 'hear-heartbeat',
        text: `update alert_heartbeats set heard_at = $4, due_at = $5, within = $6, options = $7
          where workspace_id = $1 and key_id = $2 and name = $3 and missed_at is null returning ${HEARTBEAT}`,
        values: [...monitor, name, now, dueAt(now, within), within, JSON.stringify(options)],
      };
      const [[row]] = await pipeline(db, [hear, keepSender(sender)]);
      return row;
    },

    /**
     * Stores a heartbeat that was heard. The row of the monitor must be locked. Returns it with whether it was missed.
     * @throws DomainError `invalid_resource_state` if the workspace has too many
     */
    async keepHeartbeat({ name, within, options }: HeardOf, now: Instant) {
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

    async postpone({ heartbeat, quiet }: Due, now: Instant): Promise<void> {
      const later = dueAt(now, RETRY);
      if (heartbeat !== undefined)
        await query(db, {
          name: 'postpone-heartbeat',
          text: 'update alert_heartbeats set due_at = $3 where workspace_id = $1 and id = $2 and due_at <= $4',
          values: [workspaceId, heartbeat.id, later, now],
        });
      if (quiet !== undefined)
        await query(db, {
          name: 'postpone-quiet-alert-group',
          text: `update alert_groups set quiet_at = $4
          where workspace_id = $1 and key_id = $2 and identity = decode($3, 'hex') and quiet_at <= $5`,
          values: [...monitor, quiet.digest, later, now],
        });
    },

    /** Groups whose alerts fire are due later; the others never are. */
    async keepQuiet(
      groups: readonly { digest: string; quiet: Quiet | null }[],
      now: Instant,
      after: number,
    ): Promise<void> {
      await query(db, {
        name: 'keep-quiet-alert-groups',
        text: `update alert_groups set quiet = kept.quiet, quiet_at = case when kept.quiet is not null then $5::timestamptz end
        from unnest((select $3::text[]), (select $4::jsonb[])) as kept (digest, quiet)
          cross join lateral (
            select id from alert_groups
            where workspace_id = $1 and key_id = $2 and identity = decode(kept.digest, 'hex') offset 0) as known
        where alert_groups.id = known.id and (kept.quiet is not null or quiet_at is not null)`,
        values: [
          ...monitor,
          groups.map(({ digest }) => digest),
          groups.map(({ quiet }) => (quiet === null ? null : JSON.stringify(quiet))),
          dueAt(now, after),
        ],
      });
    },

    /** Marks a group as over if it still is due. The row of the monitor must be locked. */
    async endQuiet(digest: string, now: Instant): Promise<boolean> {
      const rows = await query(db, {
        name: 'end-quiet-alert-group',
        text: `update alert_groups set quiet = null, quiet_at = null
        where workspace_id = $1 and key_id = $2 and identity = decode($3, 'hex') and quiet_at <= $4 returning id`,
        values: [...monitor, digest, now],
      });
      return rows.length > 0;
    },
  };
}

/** Whether something has to be heard. */
export async function isAnythingAwaited(database: Knex): Promise<boolean> {
  const rows = await query(database, {
    name: 'is-anything-awaited',
    text: `select where (select min(due_at) from alert_heartbeats) is not null
      or (select min(quiet_at) from alert_groups) is not null`,
  });
  return rows.length > 0;
}

/** What moves when nobody could be heard: only the time since both the last tick and the last sign of each counts. */
const MOVED = [
  ['alert_heartbeats', 'due_at', 'within'],
  ['alert_groups', 'quiet_at', "(quiet->>'after')::int"],
] as const;

/**
 * Says that this system can hear monitors now. Moves all that is due if it could not for a while: then it does not know
 * who was silent.
 */
export async function tick(database: Knex, now: Instant): Promise<void> {
  await database.transaction(async (trx) => {
    const [clock] = await query<{ tickedAt: Instant }>(trx, {
      name: 'lock-alert-clock',
      text: 'select ticked_at as "tickedAt" from alert_clock for update',
    });
    if (clock !== undefined && Date.parse(now) - Date.parse(clock.tickedAt) > LONGEST_TICK)
      for (const [table, column, seconds] of MOVED)
        await query(trx, {
          name: `move-${table}`,
          text: `update ${table} set ${column} = ${column} + greatest(interval '0',
            $1::timestamptz - greatest($2::timestamptz, ${column} - ${seconds} * interval '1 second'))
          where ${column} is not null`,
          values: [now, clock.tickedAt],
        });
    // A clock that was an hour ahead was wrong; one that is a little ahead is that of another process.
    await query(trx, {
      name: 'tick-alert-clock',
      text: `insert into alert_clock (is_only_row, ticked_at) values (true, $1)
      on conflict (is_only_row) do update set ticked_at = case
        when alert_clock.ticked_at > excluded.ticked_at + interval '1 hour' then excluded.ticked_at
        else greatest(alert_clock.ticked_at, excluded.ticked_at) end`,
      values: [now],
    });
  });
}

/** Who acts for the monitor of each row of `due`, which is looked up by its primary key. */
const SENDER_OF_DUE = `cross join lateral (
      select sender from alert_sources where workspace_id = due.workspace_id and key_id = due.key_id offset 0) as source
    where source.sender is not null`;

/** What is due, the first ones. */
export async function findDue(database: Knex, now: Instant): Promise<Due[]> {
  const heartbeats = await query<Heartbeat & { sender: Principal }>(database, {
    name: 'find-due-heartbeats',
    text: `select source.sender, due.id, due.name, due.within, due.heard_at as "heardAt", due.due_at as "dueAt",
      due.missed_at as "missedAt", due.options
    from (
      select id, name, within, heard_at, due_at, missed_at, options, workspace_id, key_id from alert_heartbeats
      where due_at <= $1 order by due_at limit ${AT_ONCE}) as due
    ${SENDER_OF_DUE}`,
    values: [now],
  });
  const groups = await query<{ sender: Principal; quiet: Quiet; digest: string }>(database, {
    name: 'find-quiet-alert-groups',
    text: `select source.sender, due.quiet, encode(due.identity, 'hex') as digest
    from (
      select workspace_id, key_id, identity, quiet from alert_groups
      where quiet_at <= $1 order by quiet_at limit ${AT_ONCE}) as due
    ${SENDER_OF_DUE}`,
    values: [now],
  });
  return [
    ...heartbeats.map(({ sender, ...heartbeat }) => ({ sender, heartbeat })),
    ...groups.map(({ sender, quiet, ...due }) => ({ sender, quiet: { ...quiet, ...due } })),
  ];
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
      cross join lateral (select id, number from incidents where id = known.incident_id offset 0) as incident`,
      values: [workspaceId, rows.map(({ keyId }) => keyId), rows.map(({ name }) => digestOf(heartbeatIdentity(name)))],
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
    await alertStore(trx, { workspaceId, keyId: heartbeat.keyId, monitorId: heartbeat.keyId }).lock();
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
