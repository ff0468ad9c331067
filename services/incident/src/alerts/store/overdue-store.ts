import { type Knex, query } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import type { Principal } from '@tocsin/schemas';
import type { Heartbeat, Quiet } from '../domain/overdue.ts';
import type { Monitor } from './source-store.ts';

/** What is overdue and read at once. */
const AT_ONCE = 50;
/**
 * Milliseconds between two looks after which this system, and not monitors, was silent: it moves all that is due by as
 * much.
 */
const LONGEST_TICK = 30_000;

/** What is due, or fires since it was missed, with the principal of the latest request of its monitor. */
export interface Due {
  sender: Principal;
  heartbeat?: Heartbeat;
  quiet?: Quiet & { digest: string };
}

/** Milliseconds after which it is tried again. */
const RETRY = 60_000;

/** The groups of a monitor of which something must be heard, over a pool or a transaction. */
export function quietStore(db: Knex, { workspaceId, monitorId }: Monitor) {
  const monitor = [workspaceId, monitorId];
  return {
    /** Groups whose alerts fire are due after so many seconds; the others never are. */
    async keep(groups: readonly { digest: string; quiet: Quiet | null }[], now: Instant, after: number): Promise<void> {
      await query(db, {
        name: 'keep-quiet-alert-groups',
        text: `update alert_groups set quiet = kept.quiet, quiet_at = case when kept.quiet is not null then $5::timestamptz end
        from unnest((select $3::text[]), (select $4::jsonb[])) as kept (digest, quiet)
          cross join lateral (
            select id from alert_groups
            where workspace_id = $1 and key_id = $2 and identity = decode(kept.digest, 'hex') offset 0) as known
        where alert_groups.workspace_id = $1 and alert_groups.id = known.id and (kept.quiet is not null or quiet_at is not null)`,
        values: [
          ...monitor,
          groups.map(({ digest }) => digest),
          groups.map(({ quiet }) => (quiet === null ? null : JSON.stringify(quiet))),
          addMilliseconds(now, 1_000 * after),
        ],
      });
    },

    /** Marks a group as over if it still is due. The row of the monitor must be locked. */
    async end(digest: string, now: Instant): Promise<boolean> {
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

/** Makes what could not be handled due again in a minute. */
export async function postpone(
  db: Knex,
  { workspaceId, monitorId }: Monitor,
  { due, now }: { due: Due; now: Instant },
): Promise<void> {
  const later = addMilliseconds(now, RETRY);
  if (due.heartbeat !== undefined)
    await query(db, {
      name: 'postpone-heartbeat',
      text: 'update alert_heartbeats set due_at = $3 where workspace_id = $1 and id = $2 and due_at <= $4',
      values: [workspaceId, due.heartbeat.id, later, now],
    });
  if (due.quiet !== undefined)
    await query(db, {
      name: 'postpone-quiet-alert-group',
      text: `update alert_groups set quiet_at = $4
        where workspace_id = $1 and key_id = $2 and identity = decode($3, 'hex') and quiet_at <= $5`,
      values: [workspaceId, monitorId, due.quiet.digest, later, now],
    });
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
