/**
 * `audit` is the audit log (contract: Audit log). A command of any app adds an entry to its outbox, in the transaction
 * of its change: so there is an entry if, and only if, there is the change (ADR 58). The relay of that app publishes
 * it, and `messaging/audit-events.ts` stores it here once, because the inbox of the queue recognises an event that
 * comes again. Without the broker, entries are late and none is lost. This file lists them, the newest first, and reads
 * the states before and after a change only as far as a page has room for them. Entries are deleted only if the
 * workspace has set for how long it keeps them (contract: Retention).
 */
import { ceilTimestamp } from '@tocsin/schemas';
import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { auditStore, type ShownRecord } from '../store/audit-store.ts';
import { type AuditApi, auditContracts, type AuditEntryWire } from './contracts.ts';

const OPERATOR = 'operator' as const;

export function auditHandlers({ database, cursors }: { database: Knex; cursors: Cursors }): AuditApi {
  const positions = cursorsOf(cursors, { name: 'occurred_at', keys: ['timestamp', 'integer'] });
  return {
    listAuditLog: async ({ principal: { workspace }, query }) => {
      const { limit = DEFAULT_LIMIT, cursor, actor, action } = query;
      const moment = (text: string | undefined) => (text === undefined ? undefined : ceilTimestamp(text));
      const filters = {
        action,
        actorType: actor === OPERATOR ? OPERATOR : undefined,
        userId: actor === undefined || actor === OPERATOR ? undefined : Number(actor),
        from: moment(query.occurred_from),
        to: moment(query.occurred_to),
      };
      const scope = { workspaceId: workspace.id, path: auditContracts.listAuditLog.path, filters };
      const [occurredAt, id] = cursor === undefined ? [] : positions.decode(cursor, scope);
      const store = auditStore(database);
      const { rows, pagination } = await buildPage({
        listed: await store.list(workspace.id, {
          ...filters,
          limit: limit + 1,
          after: occurredAt === undefined || id === undefined ? undefined : { occurredAt, id },
        }),
        limit,
        whole: (listed) => store.readWhole(workspace.id, listed),
        view: entryView,
        nextCursor: (last) => positions.encode([last.occurredAt, last.id], scope),
      });
      return { body: { entries: rows, pagination } };
    },
  };
}

const entryView = (record: ShownRecord): AuditEntryWire => ({
  id: record.id,
  occurred_at: record.occurredAt,
  actor: { type: record.actorType, user_id: record.userId, api_key_prefix: record.keyPrefix },
  action: record.action,
  target: { type: record.targetType, id: record.targetId },
  before: record.before,
  after: record.after,
});
