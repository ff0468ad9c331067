import { type Knex, query } from '@tocsin/postgres';
import { column, type ColumnsOf, rowMapping } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import type { Format, HeardGroup } from '../domain/alert.ts';
import type { Outcome } from '../domain/decision.ts';
import {
  type AlertIncident,
  type KnownGroup,
  type KnownIncident,
  type Member,
  memberKey,
  type Minute,
} from '../domain/known.ts';

/** What is known of a monitor. */
export interface AlertSource extends Minute {
  /** The minute that it counts in. */
  minute: Instant | null;
  members: number;
  /** Whether something of it may be overdue. */
  hasSender: boolean;
}

export interface StoredGroup extends KnownGroup {
  id: number;
  updatedAt: Instant;
}

/** The one that sends alerts: a key, which is the same monitor as those that it replaced by rotation. */
export interface AlertSender {
  workspaceId: number;
  keyId: number;
  /** The first key of the rotations. */
  monitorId: number;
}

/** A record of a notification, or of a part of it that concerns one incident. */
export interface NotificationRecord {
  receivedAt: Instant;
  keyName: string;
  keyPrefix: string;
  format: Format;
  identity: string;
  outcome: Outcome;
  reason: string;
  /** The first characters of the body of a refused notification; empty: not kept. */
  bodyStart: string;
  incidentId: number | null;
  groups: number;
  started: number;
  ended: number;
  unchanged: number;
}

/** Rows of one statement. */
const RECORDS_AT_ONCE = 1_000;
/** Records of each key: later ones take the places of the first. */
const RECORDS_BY_KEY = 5_000;
/** Days. */
export const KEPT_DAYS = 7;
/** A group without news for so many days is forgotten with its alerts, even if one of them never ended. */
const FORGOTTEN_AFTER = 30;

const RECORD_TABLE = {
  receivedAt: column('received_at', 'timestamptz'),
  keyName: column('key_name', 'text'),
  keyPrefix: column('key_prefix', 'text'),
  format: column('format', 'text'),
  identity: column('identity', 'text'),
  outcome: column('outcome', 'text'),
  reason: column('reason', 'text'),
  bodyStart: column('body_start', 'text'),
  incidentId: column('incident_id', 'bigint'),
  groups: column('groups', 'bigint'),
  started: column('started', 'bigint'),
  ended: column('ended', 'bigint'),
  unchanged: column('unchanged', 'bigint'),
} as const satisfies ColumnsOf<NotificationRecord>;
const RECORD = rowMapping<NotificationRecord, typeof RECORD_TABLE>(RECORD_TABLE);

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
    cross join lateral (${SELECT_MEMBERS} where group_id = heard.id and alert = decode(heard.key, 'hex') offset 0) as known
  union select ${MEMBER} from unnest((select $5::bigint[])) as over (id)
    cross join lateral (${SELECT_MEMBERS} where is_firing and group_id = over.id offset 0) as known
  union select ${MEMBER} from unnest((select $6::text[])) as heard (text)
    cross join lateral (
      ${SELECT_MEMBERS}
      where workspace_id = $1 and key_id = $2 and is_firing and mark = decode(heard.text, 'hex') offset 0) as known`;

type IncidentRow = Omit<KnownIncident, 'alerts'> &
  Omit<AlertIncident, 'recoveredAt'> & { recoveredByAlerts: Instant | null };

/** Who closed an incident is in its changelog, at the time of its status. */
const FIND_INCIDENTS = `select incident.id, incident.number, incident.created_at as "createdAt", incident.revision, incident.status,
    incident.status_changed_at as "statusChangedAt", incident.archived_at as "archivedAt", incident.severity,
    incident.is_unhandled_alert as "isUnhandledAlert", incident.is_duplicate as "isDuplicate",
    incident.recovered_at as "recoveredAt", incident.impact_started_at as "impactStartedAt",
    incident.event_count as "eventCount",
    case when incident.status = any((select $3::text[])::text[]) then (
      select actor from changelog where incident_id = incident.id and changed_at = incident.status_changed_at
      order by id desc limit 1) else incident.archived_by::text end as "closedBy",
    alerts.ended_at as "endedAt", alerts.recovered_at as "recoveredByAlerts",
    alerts.resolved_revision as "resolvedRevision", alerts.last_end as "lastEnd",
    (select coalesce(sum(firing), 0)::int from alert_groups where incident_id = incident.id) as firing
  from incidents as incident left join alert_incidents as alerts on alerts.incident_id = incident.id
  where incident.workspace_id = $1 and incident.id = any((select $2::bigint[])::bigint[])`;

/** Duplicates that are followed to an incident that is open. */
const MAX_STEPS = 20;

const FIND_ORIGINALS = `with recursive walk (id, original, steps) as (
    select id, id, 0 from unnest((select $1::bigint[])) as id
    union
    select walk.id, next.related_id, steps + 1 from walk cross join lateral (
      select related_id from incident_relations where incident_id = walk.original and type = 'duplicate_of' offset 0) as next
    where steps < ${MAX_STEPS}
  )
  select distinct on (walk.id) walk.id, walk.original from walk join incidents on incidents.id = walk.original
  where incidents.archived_at is null and incidents.status <> all((select $2::text[])::text[])
  order by walk.id, steps, walk.original`;

/** Stores what is known of the alerts of one monitor, over a pool or a transaction. */
export function alertStore(db: Knex, { workspaceId, keyId, monitorId }: AlertSender) {
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

    saveSource: async ({ minute, declared, lastIncidentId, groups, members }: Omit<AlertSource, 'hasSender'>) =>
      query(db, {
        name: 'save-alert-source',
        text: `update alert_sources set minute = $3, declared = $4, last_incident_id = $5, groups = $6, members = $7
        where workspace_id = $1 and key_id = $2`,
        values: [...monitor, minute, declared, lastIncidentId, groups, members],
      }),

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
      const members = await query<Omit<Member, 'group'> & { groupId: number }>(db, {
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
        const byId = `${SELECT_GROUPS} where id = any((select $1::bigint[])::bigint[])`;
        rows.push(...(await query<StoredGroup>(db, { name: 'find-alert-groups-by-id', text: byId, values: [others] })));
      }
      const byId = new Map(rows.map(({ id, digest }) => [id, digest]));
      return {
        groups: new Map(rows.map((group) => [group.digest, group])),
        members: new Map(
          members.map(({ groupId, ...stored }) => {
            const member = { ...stored, group: byId.get(groupId) ?? '' };
            return [memberKey(member), member];
          }),
        ),
      };
    },

    /** Stores new and changed groups. Returns their IDs by digest. */
    async saveGroups(groups: readonly KnownGroup[], now: Instant): Promise<Map<string, number>> {
      const rows = await query<{ id: number; digest: string }>(db, {
        name: 'save-alert-groups',
        text: `insert into alert_groups (workspace_id, key_id, identity, incident_id, firing, updated_at)
        select $1, $2, decode(digest, 'hex'), incident_id, firing, $6
        from unnest($3::text[], $4::bigint[], $5::int[]) as saved (digest, incident_id, firing)
        on conflict (workspace_id, key_id, identity)
          do update set incident_id = excluded.incident_id, firing = excluded.firing, updated_at = excluded.updated_at
        returning id, encode(identity, 'hex') as digest`,
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
    async saveMembers(members: readonly (Omit<Member, 'group'> & { groupId: number })[]): Promise<number> {
      const rows = await query<{ isNew: boolean }>(db, {
        name: 'save-alert-members',
        text: `insert into alert_members
          (workspace_id, key_id, group_id, alert, mark, is_firing, firing, is_acknowledged, severity, changed_at)
        select $1, $2, group_id, decode(alert, 'hex'), decode(mark, 'hex'), is_firing, firing, is_acknowledged, severity,
          changed_at
        from unnest($3::bigint[], $4::text[], $5::text[], $6::boolean[], $7::timestamptz[], $8::boolean[], $9::text[],
            $10::timestamptz[])
          as saved (group_id, alert, mark, is_firing, firing, is_acknowledged, severity, changed_at)
        on conflict (group_id, alert) do update
          set workspace_id = excluded.workspace_id, key_id = excluded.key_id, mark = excluded.mark,
            is_firing = excluded.is_firing, firing = excluded.firing, is_acknowledged = excluded.is_acknowledged,
            severity = excluded.severity, changed_at = excluded.changed_at
        returning xmax = 0 as "isNew"`,
        values: [
          ...monitor,
          members.map(({ groupId }) => groupId),
          members.map(({ alert }) => alert),
          members.map(({ mark }) => mark),
          members.map(({ isFiring }) => isFiring),
          members.map(({ firing }) => firing),
          members.map(({ isAcknowledged }) => isAcknowledged),
          members.map(({ severity }) => severity),
          members.map(({ changedAt }) => changedAt),
        ],
      });
      return rows.filter(({ isNew }) => isNew).length;
    },

    /** Forgets the alerts of the monitor that do not fire. Returns how many are left. */
    async forgetEnded(): Promise<number> {
      const firing = `select id from alert_groups where workspace_id = $1 and key_id = $2 and firing > 0`;
      await query(db, {
        name: 'forget-ended-alert-groups',
        text: 'delete from alert_groups where workspace_id = $1 and key_id = $2 and firing = 0',
        values: monitor,
      });
      await query(db, {
        name: 'forget-ended-alerts',
        text: `delete from alert_members where group_id in (${firing}) and not is_firing`,
        values: monitor,
      });
      const [row] = await query<{ count: number }>(db, {
        name: 'count-alerts',
        text: `select count(*)::int as count from alert_members where group_id in (${firing})`,
        values: monitor,
      });
      return row?.count ?? 0;
    },

    /** Incidents of the workspace, by ID. */
    async findIncidents(ids: readonly number[], terminal: readonly string[]): Promise<Map<number, KnownIncident>> {
      if (ids.length === 0) return new Map();
      const rows = await query<IncidentRow>(db, {
        name: 'find-alert-incidents',
        text: FIND_INCIDENTS,
        values: [workspaceId, ids, terminal],
      });
      return new Map(
        rows.map(({ endedAt, recoveredByAlerts, resolvedRevision, lastEnd, ...incident }) => [
          incident.id,
          { ...incident, alerts: { endedAt, recoveredAt: recoveredByAlerts, resolvedRevision, lastEnd } },
        ]),
      );
    },

    /** By the ID of an incident: the nearest open one that it is a duplicate of. */
    async findOriginals(ids: readonly number[], terminal: readonly string[]): Promise<Map<number, number>> {
      if (ids.length === 0) return new Map();
      const rows = await query<{ id: number; original: number }>(db, {
        name: 'find-alert-originals',
        text: FIND_ORIGINALS,
        values: [ids, terminal],
      });
      return new Map(rows.map(({ id, original }) => [id, original]));
    },

    saveIncident: async (incidentId: number, { endedAt, recoveredAt, resolvedRevision, lastEnd }: AlertIncident) =>
      query(db, {
        name: 'save-alert-incident',
        text: `insert into alert_incidents (incident_id, ended_at, recovered_at, resolved_revision, last_end)
        values ($1, $2, $3, $4, $5)
        on conflict (incident_id) do update set ended_at = excluded.ended_at, recovered_at = excluded.recovered_at,
          resolved_revision = excluded.resolved_revision, last_end = excluded.last_end`,
        values: [incidentId, endedAt, recoveredAt, resolvedRevision, lastEnd],
      }),

    /** Adds records, each in the place of the earliest one if there are too many. */
    async record(records: readonly NotificationRecord[]): Promise<void> {
      for (let start = 0; start < records.length; start += RECORDS_AT_ONCE) {
        const added = records.slice(start, start + RECORDS_AT_ONCE);
        const [source] = await query<{ notifications: number }>(db, {
          name: 'count-alert-notifications',
          text: `insert into alert_sources (workspace_id, key_id, notifications) values ($1, $2, $3)
          on conflict (workspace_id, key_id) do update
            set notifications = alert_sources.notifications + excluded.notifications
          returning notifications`,
          values: [workspaceId, keyId, added.length],
        });
        const first = (source?.notifications ?? 0) - added.length;
        const rows = added.map((record, index) => ({
          ...RECORD.toRow(record),
          workspace_id: workspaceId,
          key_id: keyId,
          place: (first + index) % RECORDS_BY_KEY,
          id: db.raw("nextval('alert_notifications_id_seq')"),
        }));
        await db('alert_notifications').insert(rows).onConflict(['workspace_id', 'key_id', 'place']).merge();
      }
    },
  };
}

/** The filters of a list of records. */
export interface RecordFilters {
  keyId?: number | undefined;
  outcomes: readonly Outcome[];
  from: Instant;
  before: Instant | null;
}

export interface ListedRecord extends NotificationRecord {
  id: number;
  keyId: number;
  incidentNumber: number | null;
}

/** Returns the records of a workspace before an ID, the newest first. */
export async function listRecords(
  database: Knex,
  {
    workspaceId,
    filters,
    limit,
    before,
  }: { workspaceId: number; filters: RecordFilters; limit: number; before?: number | undefined },
): Promise<ListedRecord[]> {
  const { keyId, outcomes, from, before: until } = filters;
  return database('alert_notifications as record')
    .leftJoin('incidents as incident', 'incident.id', 'record.incident_id')
    .where('record.workspace_id', workspaceId)
    .where('record.received_at', '>=', from)
    .modify((query) => {
      if (before !== undefined) void query.where('record.id', '<', before);
      if (keyId !== undefined) void query.where('record.key_id', keyId);
      if (outcomes.length > 0) void query.whereIn('record.outcome', outcomes);
      if (until !== null) void query.where('record.received_at', '<', until);
    })
    .orderBy('record.id', 'desc')
    .limit(limit)
    .select<ListedRecord[]>(
      'record.id',
      'record.key_id as keyId',
      'incident.number as incidentNumber',
      ...Object.entries(RECORD_TABLE).map(([property, { name }]) => `record.${name} as ${property}`),
    );
}

/** Returns the numbers of incidents by their IDs. */
export async function incidentNumbers(db: Knex, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await query<{ id: number; number: number }>(db, {
    name: 'incident-numbers',
    text: 'select id, number from incidents where id = any((select $1::bigint[])::bigint[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, number }) => [id, number]));
}

const SWEPT = 1_000;

/** Deletes old records and groups, a part at a time. Returns whether there may be more. */
export async function sweepAlerts(database: Knex): Promise<boolean> {
  const records = database('alert_notifications')
    .select('id')
    .whereRaw(`received_at < now() - interval '${KEPT_DAYS} days'`)
    .limit(SWEPT);
  const groups = database('alert_groups')
    .select('id')
    .whereRaw(`updated_at < now() - interval '${FORGOTTEN_AFTER} days'`)
    .limit(SWEPT);
  const deleted = [
    await database('alert_notifications').whereIn('id', records).delete(),
    await database('alert_groups').whereIn('id', groups).delete(),
  ];
  return deleted.includes(SWEPT);
}
