import { type Knex, runPrepared } from '@tocsin/postgres';
import { column, type ColumnsOf, rowMapping } from '@tocsin/resources';
import type { Instant } from '@tocsin/runtime';
import type { Format } from '../domain/alert.ts';
import type { Member } from '../domain/firings.ts';

/** What is known of a key that sends alerts. */
export interface AlertSource {
  /** The minute in which `declared` incidents were declared. */
  minute: Instant | null;
  declared: number;
  lastIncidentId: number | null;
  /** How many groups the last of them stands for. */
  groups: number;
  members: number;
}

/** What is known of a group. */
export interface StoredGroup {
  id: number;
  identity: string;
  incidentId: number | null;
  /** Alerts that fire. */
  firing: number;
  updatedAt: Instant;
}

/** What alerts have done to an incident. */
export interface AlertIncident {
  endedAt: Instant | null;
  recoveredAt: Instant | null;
  resolvedRevision: number | null;
}

/** What has become of the alerts of a notification (contract: Alerts). */
export const OUTCOMES = ['declared', 'added', 'unchanged', 'ended', 'reopened', 'collected', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A record of a notification, or of a part of it that concerns one incident. */
export interface NotificationRecord {
  receivedAt: Instant;
  keyName: string;
  keyPrefix: string;
  format: Format;
  identity: string;
  outcome: Outcome;
  reason: string;
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
  incidentId: column('incident_id', 'bigint'),
  groups: column('groups', 'bigint'),
  started: column('started', 'bigint'),
  ended: column('ended', 'bigint'),
  unchanged: column('unchanged', 'bigint'),
} as const satisfies ColumnsOf<NotificationRecord>;
const RECORD = rowMapping<NotificationRecord, typeof RECORD_TABLE>(RECORD_TABLE);

/** Stores the alerts of one key, over a pool or a transaction. */
export function alertStore(db: Knex, { workspaceId, keyId }: { workspaceId: number; keyId: number }) {
  const own = [workspaceId, keyId];
  return {
    /** Locks the key until the transaction ends, so that its notifications are handled one after the other. */
    async lock(): Promise<AlertSource> {
      await runPrepared(
        db,
        'add-alert-source',
        'insert into alert_sources (workspace_id, key_id) values ($1, $2) on conflict do nothing',
        own,
      );
      const [source] = await runPrepared<AlertSource>(
        db,
        'lock-alert-source',
        `select minute, declared, last_incident_id as "lastIncidentId", groups, members
        from alert_sources where workspace_id = $1 and key_id = $2 for update`,
        own,
      );
      return source as AlertSource;
    },

    saveSource: async ({ minute, declared, lastIncidentId, groups, members }: AlertSource) =>
      runPrepared(
        db,
        'save-alert-source',
        `update alert_sources set minute = $3, declared = $4, last_incident_id = $5, groups = $6, members = $7
        where workspace_id = $1 and key_id = $2`,
        [...own, minute, declared, lastIncidentId, groups, members],
      ),

    findGroups: async (identities: readonly string[]): Promise<StoredGroup[]> =>
      runPrepared(
        db,
        'find-alert-groups',
        `select id, encode(identity, 'hex') as identity, incident_id as "incidentId", firing,
          updated_at as "updatedAt"
        from alert_groups
        where workspace_id = $1 and key_id = $2 and identity = any(
          select decode(digest, 'hex') from unnest($3::text[]) as digest)`,
        [...own, identities],
      ),

    /** The known alerts of groups, by group and digest: those with these digests, and all that fire of groups that are over. */
    async findMembers(
      groups: readonly number[],
      { alerts, over }: { alerts: readonly string[]; over: readonly number[] },
    ) {
      const rows = await runPrepared<Member & { groupId: number; alert: string }>(
        db,
        'find-alert-members',
        `select group_id as "groupId", encode(alert, 'hex') as alert, is_firing as "isFiring", firing,
          is_acknowledged as "isAcknowledged"
        from alert_members where group_id = any((select $1::bigint[])::bigint[])
          and (alert = any(select decode(digest, 'hex') from unnest((select $2::text[])) as digest)
            or (is_firing and group_id = any((select $3::bigint[])::bigint[])))`,
        [groups, alerts, over],
      );
      const members = new Map<number, Map<string, Member>>(groups.map((id) => [id, new Map()]));
      for (const { groupId, alert, ...member } of rows) members.get(groupId)?.set(alert, member);
      return members;
    },

    /** Stores new and changed groups. Returns their IDs by digest. */
    async saveGroups(
      groups: readonly Pick<StoredGroup, 'identity' | 'incidentId' | 'firing'>[],
      now: Instant,
    ): Promise<Map<string, number>> {
      const rows = await runPrepared<{ id: number; identity: string }>(
        db,
        'save-alert-groups',
        `insert into alert_groups (workspace_id, key_id, identity, incident_id, firing, updated_at)
        select $1, $2, decode(digest, 'hex'), incident_id, firing, $6
        from unnest($3::text[], $4::bigint[], $5::int[]) as saved (digest, incident_id, firing)
        on conflict (workspace_id, key_id, identity)
          do update set incident_id = excluded.incident_id, firing = excluded.firing, updated_at = excluded.updated_at
        returning id, encode(identity, 'hex') as identity`,
        [
          ...own,
          groups.map(({ identity }) => identity),
          groups.map(({ incidentId }) => incidentId),
          groups.map(({ firing }) => firing),
          now,
        ],
      );
      return new Map(rows.map(({ identity, id }) => [identity, id]));
    },

    /** Stores new and changed alerts. Returns how many are new. */
    async saveMembers(members: readonly (Member & { groupId: number; alert: string })[]): Promise<number> {
      const rows = await runPrepared<{ isNew: boolean }>(
        db,
        'save-alert-members',
        `insert into alert_members (group_id, alert, is_firing, firing, is_acknowledged)
        select group_id, decode(digest, 'hex'), is_firing, firing, is_acknowledged
        from unnest($1::bigint[], $2::text[], $3::boolean[], $4::timestamptz[], $5::boolean[])
          as saved (group_id, digest, is_firing, firing, is_acknowledged)
        on conflict (group_id, alert) do update
          set is_firing = excluded.is_firing, firing = excluded.firing, is_acknowledged = excluded.is_acknowledged
        returning xmax = 0 as "isNew"`,
        [
          members.map(({ groupId }) => groupId),
          members.map(({ alert }) => alert),
          members.map(({ isFiring }) => isFiring),
          members.map(({ firing }) => firing),
          members.map(({ isAcknowledged }) => isAcknowledged),
        ],
      );
      return rows.filter(({ isNew }) => isNew).length;
    },

    /** Forgets the alerts of the key that do not fire. Returns how many are left. */
    async forgetEnded(): Promise<number> {
      const firing = `select id from alert_groups where workspace_id = $1 and key_id = $2 and firing > 0`;
      await runPrepared(
        db,
        'forget-ended-alert-groups',
        'delete from alert_groups where workspace_id = $1 and key_id = $2 and firing = 0',
        own,
      );
      await runPrepared(
        db,
        'forget-ended-alerts',
        `delete from alert_members where group_id in (${firing}) and not is_firing`,
        own,
      );
      const [row] = await runPrepared<{ count: number }>(
        db,
        'count-alerts',
        `select count(*)::int as count from alert_members where group_id in (${firing})`,
        own,
      );
      return row?.count ?? 0;
    },

    async findIncident(incidentId: number): Promise<(AlertIncident & { firing: number }) | undefined> {
      const [row] = await runPrepared<AlertIncident & { firing: number }>(
        db,
        'find-alert-incident',
        `select ended_at as "endedAt", recovered_at as "recoveredAt", resolved_revision as "resolvedRevision",
          (select coalesce(sum(firing), 0)::int from alert_groups where incident_id = $1) as firing
        from alert_incidents where incident_id = $1`,
        [incidentId],
      );
      return row;
    },

    saveIncident: async (incidentId: number, { endedAt, recoveredAt, resolvedRevision }: AlertIncident) =>
      runPrepared(
        db,
        'save-alert-incident',
        `insert into alert_incidents (incident_id, ended_at, recovered_at, resolved_revision) values ($1, $2, $3, $4)
        on conflict (incident_id) do update set ended_at = excluded.ended_at, recovered_at = excluded.recovered_at,
          resolved_revision = excluded.resolved_revision`,
        [incidentId, endedAt, recoveredAt, resolvedRevision],
      ),

    /** Adds records, each in the place of the earliest one if there are too many. */
    async record(records: readonly NotificationRecord[]): Promise<void> {
      for (let start = 0; start < records.length; start += RECORDS_AT_ONCE) {
        const added = records.slice(start, start + RECORDS_AT_ONCE);
        const [source] = await runPrepared<{ notifications: number }>(
          db,
          'count-alert-notifications',
          `insert into alert_sources (workspace_id, key_id, notifications) values ($1, $2, $3)
          on conflict (workspace_id, key_id) do update
            set notifications = alert_sources.notifications + excluded.notifications
          returning notifications`,
          [...own, added.length],
        );
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
  const rows = await runPrepared<{ id: number; number: number }>(
    db,
    'incident-numbers',
    'select id, number from incidents where id = any((select $1::bigint[])::bigint[])',
    [ids],
  );
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
