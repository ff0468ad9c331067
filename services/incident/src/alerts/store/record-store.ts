import { type Knex, query } from '@tocsin/postgres';
import { column, type ColumnsOf, rowMapping } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import type { Format } from '../domain/alert.ts';
import type { Outcome } from '../domain/decision.ts';
import { visibleOrNone } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import type { AlertSender } from './source-store.ts';

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

/** Adds records, each in the place of the earliest one if there are too many. */
export async function addRecords(
  db: Knex,
  { workspaceId, keyId }: Pick<AlertSender, 'workspaceId' | 'keyId'>,
  records: readonly NotificationRecord[],
): Promise<void> {
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
}

/** The filters of a list of records. */
export interface RecordFilters {
  keyId?: number | undefined;
  outcomes: readonly Outcome[];
  from: Instant | null;
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
    .leftJoin('incidents as incident', {
      'incident.workspace_id': 'record.workspace_id',
      'incident.id': 'record.incident_id',
    })
    .where('record.workspace_id', workspaceId)
    .whereRaw(visibleOrNone('incident'), [[...currentViewer()]])
    .modify((query) => {
      if (before !== undefined) void query.where('record.id', '<', before);
      if (keyId !== undefined) void query.where('record.key_id', keyId);
      if (outcomes.length > 0) void query.whereIn('record.outcome', outcomes);
      if (from !== null) void query.where('record.received_at', '>=', from);
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
