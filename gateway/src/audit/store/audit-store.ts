import type { AuditEntry } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import {
  column,
  type ColumnsOf,
  insertOf,
  type Listed,
  listedColumns,
  type ListedRow,
  readWhole,
  type RowOf,
  rowMapping,
} from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import { erasedName } from '@tocsin/service-host';

/** An entry of the audit log (contract: Audit log). */
export interface AuditRecord {
  id: number;
  workspaceId: number;
  occurredAt: Instant;
  actorType: AuditEntry['actor']['type'];
  userId: number | null;
  keyId: number | null;
  action: string;
  targetType: string;
  targetId: string;
  before: AuditEntry['before'];
  after: AuditEntry['after'];
}

/** With the first characters of the API key. */
export type ShownRecord = AuditRecord & { keyPrefix: string | null };

export interface AuditQuery {
  userId?: number | undefined;
  actorType?: AuditRecord['actorType'] | undefined;
  action?: string | undefined;
  /** From this time on. */
  from?: Instant | undefined;
  /** Before this time. */
  to?: Instant | undefined;
  limit: number;
  /** The position after which the page begins; the newest come first. */
  after: { occurredAt: Instant; id: number } | undefined;
}

const COLUMNS = {
  id: column('id', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  occurredAt: column('occurred_at', 'timestamptz'),
  actorType: column('actor_type', 'text'),
  userId: column('user_id', 'bigint'),
  keyId: column('key_id', 'bigint'),
  action: column('action', 'text'),
  targetType: column('target_type', 'text'),
  targetId: column('target_id', 'text'),
  before: column('before', 'jsonb'),
  after: column('after', 'jsonb'),
} as const satisfies ColumnsOf<AuditRecord>;

const mapping = rowMapping<AuditRecord, typeof COLUMNS>(COLUMNS);

type Row = RowOf<AuditRecord, typeof COLUMNS>;

const LISTED = listedColumns({
  table: 'audit_log',
  names: mapping.names,
  large: { before: 'jsonb', after: 'jsonb' },
});

/** A state of a user, or of the account at a provider, without what says who it is. */
const erased = (state: string) => `
  case when ${state} is not null then (${state} - 'oidc') || coalesce(
    (select jsonb_object_agg(name, $4::text) from jsonb_object_keys(${state}) as name
      where name in ('email', 'name', 'subject')), '{}') end`;

/** Entries that one statement deletes. */
const EXPIRED_BATCH = 1_000;

export function auditStore(db: Knex) {
  return {
    insert: async (record: Omit<AuditRecord, 'id'>): Promise<void> => {
      await query(db, { name: 'insert-audit-entry', ...insertOf('audit_log', mapping.toRow(record)) });
    },

    list: async (workspaceId: number, options: AuditQuery): Promise<Listed<ShownRecord>[]> => {
      const { userId, actorType, action, from, to, limit, after } = options;
      const selected = db('audit_log')
        .leftJoin('api_keys', { 'api_keys.workspace_id': 'audit_log.workspace_id', 'api_keys.id': 'audit_log.key_id' })
        .where('audit_log.workspace_id', workspaceId)
        .orderBy([
          { column: 'audit_log.occurred_at', order: 'desc' },
          { column: 'audit_log.id', order: 'desc' },
        ])
        .limit(limit)
        .select<(ListedRow<Row> & { token_shown: string | null })[]>(db.raw(LISTED), 'api_keys.token_shown');
      if (userId !== undefined) void selected.where('audit_log.user_id', userId);
      if (actorType !== undefined) void selected.where('audit_log.actor_type', actorType);
      if (action !== undefined) void selected.where('audit_log.action', action);
      if (from !== undefined) void selected.where('audit_log.occurred_at', '>=', from);
      if (to !== undefined) void selected.where('audit_log.occurred_at', '<', to);
      if (after !== undefined) {
        void selected.whereRaw('(audit_log.occurred_at, audit_log.id) < (?, ?)', [after.occurredAt, after.id]);
      }
      return (await selected).map((row) => ({
        ...mapping.toEntity(row),
        keyPrefix: row.token_shown,
        largeWeight: row.large_weight,
      }));
    },

    /** The listed entries with their states, a few at a time. */
    readWhole: (workspaceId: number, listed: readonly Listed<ShownRecord>[]) =>
      readWhole<ShownRecord>(listed, async (ids) => {
        const prefixes = new Map(listed.map(({ id, keyPrefix }) => [id, keyPrefix]));
        const records = await query<AuditRecord>(db, {
          name: 'read-audit-entries',
          text: `select ${mapping.selection} from audit_log
            where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
          values: [workspaceId, ids],
        });
        return records.map((record) => ({ ...record, keyPrefix: prefixes.get(record.id) ?? null }));
      }),

    /** Takes what says who a user is from the entries about the user, if the user is erased. */
    eraseUser: async (workspaceId: number, userId: number): Promise<void> => {
      await query(db, {
        name: 'erase-user-in-audit-log',
        text: `update audit_log set before = ${erased('before')}, after = ${erased('after')}
          from erasures where erasures.workspace_id = $1 and erasures.user_id = $2
            and audit_log.workspace_id = $1 and target_type = 'user' and target_id = $3`,
        values: [workspaceId, userId, String(userId), erasedName(userId)],
      });
    },

    /** Deletes a batch of a workspace's entries before this time. Returns whether there may be more. */
    deleteBefore: async (workspaceId: number, time: Instant): Promise<boolean> => {
      const deleted = await query(db, {
        text: `delete from audit_log where workspace_id = $1 and id = any(array(
            select id from audit_log where workspace_id = $1 and occurred_at < $2 order by occurred_at, id
            limit ${EXPIRED_BATCH}))
          returning id`,
        values: [workspaceId, time],
      });
      return deleted.length === EXPIRED_BATCH;
    },
  };
}
