import type { AuditEntry, EventWorkspace, Principal } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type NewEvent, outbox } from './outbox.ts';

/** Who changes a setting, of which workspace, and by which request. */
export interface Change {
  workspace: EventWorkspace;
  actor: AuditEntry['actor'];
  requestId: string | null;
}

export function changeBy({ principal, requestId }: { principal: Principal; requestId: string }): Change {
  const { id, slug, is_demo } = principal.workspace;
  return {
    workspace: { id, slug, is_demo },
    actor: { type: 'user', user_id: principal.user_id, key_id: principal.key_id },
    requestId,
  };
}

/** A change by a person with access to the server. */
export const changeByOperator = (workspace: EventWorkspace): Change => ({
  workspace,
  actor: { type: 'operator', user_id: null, key_id: null },
  requestId: null,
});

type Recorded = Omit<AuditEntry, 'actor'> & { now: Instant };

/** What makes an entry of the audit log, for a statement that inserts it with others. */
export const auditEvent = (
  { workspace, actor, requestId }: Change,
  { now, ...entry }: Recorded,
): NewEvent<'audit.recorded'> => ({
  type: 'audit.recorded',
  occurredAt: now,
  workspace,
  requestId,
  data: { entry: { actor, ...entry } },
});

/** Records a change of a setting in the audit log if, and only if, the transaction commits (contract: Audit log). */
export const recordChange = async (trx: Knex.Transaction, change: Change, recorded: Recorded): Promise<void> =>
  outbox(trx).add(auditEvent(change, recorded));
