import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { HeardGroup } from '../domain/alert.ts';
import { type KnownGroup, type Member, memberKey } from '../domain/known.ts';
import type { Monitor } from './source-store.ts';

export interface StoredGroup extends KnownGroup {
  id: number;
  updatedAt: Instant;
}

type MemberRow = Omit<Member, 'group'> & { groupId: number };

/** A group without news for so many days is forgotten with its alerts, even if one of them never ended. */
const FORGOTTEN_AFTER = 30;

const SELECT_GROUPS = `select id, encode(identity, 'hex') as digest, incident_id as "incidentId", firing,
    updated_at as "updatedAt" from alert_groups`;
const SELECT_MEMBERS = `select encode(alert, 'hex') as alert, encode(mark, 'hex') as mark, group_id as "groupId", is_firing as "isFiring", firing,
    is_acknowledged as "isAcknowledged", severity, changed_at as "changedAt" from alert_members`;

/**
 * Looked up one by one: for thousands of digests in tables without statistics, the planner would compare each with all rows.
 */
const FIND_GROUPS = `select known.id, digest, "incidentId", firing, "updatedAt" from unnest((select $3::text[])) as heard (text)
  cross join lateral (
    ${SELECT_GROUPS} where workspace_id = $1 and key_id = $2 and identity = decode(heard.text, 'hex') offset 0) as known`;
const MEMBER = 'alert, mark, "groupId", "isFiring", firing, "isAcknowledged", severity, "changedAt"';
const FIND_MEMBERS = `select ${MEMBER} from unnest((select $3::bigint[]), (select $4::text[])) as heard (id, key)
    cross join lateral (
      ${SELECT_MEMBERS}
      where workspace_id = $1 and group_id = heard.id and alert = decode(heard.key, 'hex') offset 0) as known
  union select ${MEMBER} from unnest((select $5::bigint[])) as over (id)
    cross join lateral (
      ${SELECT_MEMBERS} where is_firing and workspace_id = $1 and group_id = over.id offset 0) as known
  union select ${MEMBER} from unnest((select $6::text[])) as heard (text)
    cross join lateral (
      ${SELECT_MEMBERS}
      where workspace_id = $1 and key_id = $2 and is_firing and mark = decode(heard.text, 'hex') offset 0) as known`;

const SAVE_GROUPS = `insert into alert_groups (workspace_id, key_id, identity, incident_id, firing, updated_at)
  select $1, $2, decode(digest, 'hex'), incident_id, firing, $6
  from unnest($3::text[], $4::bigint[], $5::int[]) as saved (digest, incident_id, firing)
  on conflict (workspace_id, key_id, identity)
    do update set incident_id = excluded.incident_id, firing = excluded.firing, updated_at = excluded.updated_at
  returning id, encode(identity, 'hex') as digest`;

const SAVED = ['groupId', 'alert', 'mark', 'isFiring', 'firing', 'isAcknowledged', 'severity', 'changedAt'] as const;
const SAVE_MEMBERS = `insert into alert_members
    (workspace_id, key_id, group_id, alert, mark, is_firing, firing, is_acknowledged, severity, changed_at)
  select $1, $2, group_id, decode(alert, 'hex'), decode(mark, 'hex'), is_firing, firing, is_acknowledged, severity,
    changed_at
  from unnest($3::bigint[], $4::text[], $5::text[], $6::boolean[], $7::timestamptz[], $8::boolean[], $9::text[],
      $10::timestamptz[])
    as saved (group_id, alert, mark, is_firing, firing, is_acknowledged, severity, changed_at)
  on conflict (workspace_id, group_id, alert) do update
    set key_id = excluded.key_id, mark = excluded.mark,
      is_firing = excluded.is_firing, firing = excluded.firing, is_acknowledged = excluded.is_acknowledged,
      severity = excluded.severity, changed_at = excluded.changed_at
  returning xmax = 0 as "isNew"`;

const FORGET_GROUPS = 'delete from alert_groups where workspace_id = $1 and key_id = $2 and firing = 0';
const OF_FIRING_GROUPS = `alert_members where workspace_id = $1 and group_id in (
  select id from alert_groups where workspace_id = $1 and key_id = $2 and firing > 0)`;

/** Stores what is known of the alerts of one monitor, over a pool or a transaction. */
export function alertStore(db: Knex, { workspaceId, monitorId }: Monitor) {
  const monitor = [workspaceId, monitorId];
  return {
    /**
     * The groups that are heard of, with their alerts that are, those with the same marks that fire in any group, and all
     * that fire of groups that are over; and the groups of those. By digest and `memberKey`.
     */
    async find(heard: readonly HeardGroup[]) {
      const rows = await query<StoredGroup>(db, {
        name: 'find-alert-groups',
        text: FIND_GROUPS,
        values: [...monitor, heard.map(({ digest }) => digest)],
      });
      const ids = new Map(rows.map(({ digest, id }) => [digest, id]));
      const idOf = ({ digest }: HeardGroup) => ids.get(digest) ?? [];
      const storedGroups = heard.filter(({ digest }) => ids.has(digest));
      const members = await query<MemberRow>(db, {
        name: 'find-alert-members',
        text: FIND_MEMBERS,
        values: [
          ...monitor,
          storedGroups.flatMap((group) => group.alerts.map(() => idOf(group)).flat()),
          storedGroups.flatMap(({ alerts }) => alerts.map(({ key }) => key)),
          storedGroups.filter(({ isOver }) => isOver).flatMap(idOf),
          heard.flatMap(({ alerts }) => alerts.map(({ mark }) => mark)),
        ],
      });
      const heardIds = new Set(ids.values());
      const others = [...new Set(members.map(({ groupId }) => groupId))].filter((id) => !heardIds.has(id));
      if (others.length > 0) {
        const text = `${SELECT_GROUPS} where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`;
        const values = [workspaceId, others];
        rows.push(...(await query<StoredGroup>(db, { name: 'find-alert-groups-by-id', text, values })));
      }
      return knownOf(rows, members);
    },

    /** Stores new and changed groups. Returns their IDs by digest. */
    async saveGroups(groups: readonly KnownGroup[], now: Instant): Promise<Map<string, number>> {
      const rows = await query<{ id: number; digest: string }>(db, {
        name: 'save-alert-groups',
        text: SAVE_GROUPS,
        values: [
          ...monitor,
          groups.map(({ digest }) => digest),
          groups.map(({ incidentId }) => incidentId),
          groups.map(({ firing }) => firing),
          now,
        ],
      });
      return new Map(rows.map(({ digest, id }) => [digest, id]));
    },

    /** Stores new and changed alerts. Returns how many are new. */
    async saveMembers(members: readonly MemberRow[]): Promise<number> {
      const rows = await query<{ isNew: boolean }>(db, {
        name: 'save-alert-members',
        text: SAVE_MEMBERS,
        values: [...monitor, ...SAVED.map((property) => members.map((member) => member[property]))],
      });
      return rows.filter(({ isNew }) => isNew).length;
    },

    /** Forgets the alerts of the monitor that do not fire. Returns how many are left. */
    async forgetEnded(): Promise<number> {
      await query(db, { name: 'forget-ended-alert-groups', text: FORGET_GROUPS, values: monitor });
      const ended = `delete from ${OF_FIRING_GROUPS} and not is_firing`;
      await query(db, { name: 'forget-ended-alerts', text: ended, values: monitor });
      const count = `select count(*)::int as count from ${OF_FIRING_GROUPS}`;
      const [row] = await query<{ count: number }>(db, { name: 'count-alerts', text: count, values: monitor });
      return row?.count ?? 0;
    },
  };
}

/** Returns groups by digest, and their alerts by `memberKey`. */
function knownOf(groups: readonly StoredGroup[], members: readonly MemberRow[]) {
  const digests = new Map(groups.map(({ id, digest }) => [id, digest]));
  return {
    groups: new Map(groups.map((group) => [group.digest, group])),
    members: new Map(
      members.map(({ groupId, ...stored }) => {
        const member = { ...stored, group: digests.get(groupId) ?? '' };
        return [memberKey(member), member];
      }),
    ),
  };
}

const SWEPT = 1_000;

/** Deletes groups that nobody has reported for long, a part at a time. Returns whether there may be more. */
export async function sweepAlerts(database: Knex): Promise<boolean> {
  const groups = database('alert_groups')
    .select('workspace_id', 'id')
    .whereRaw(`updated_at < now() - interval '${FORGOTTEN_AFTER} days'`)
    .limit(SWEPT);
  return (await database('alert_groups').whereIn(['workspace_id', 'id'], groups).delete()) === SWEPT;
}
