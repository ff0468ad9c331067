import type { EventHandlers } from '@tocsin/messaging';
import { auditStore } from '../store/audit-store.ts';

/** Records the changes of settings that the services and the gateway itself have published. */
export const auditEventHandlers: EventHandlers = {
  'audit.recorded': async ({ workspace, occurred_at, data: { entry } }, trx) => {
    const { actor, action, target, before, after } = entry;
    await auditStore(trx).insert({
      workspaceId: workspace.id,
      occurredAt: occurred_at,
      actorType: actor.type,
      userId: actor.user_id,
      keyId: actor.key_id,
      action,
      targetType: target.type,
      targetId: target.id,
      before,
      after,
    });
    // It may be older than the erasure of its user.
    if (target.type === 'user') await auditStore(trx).eraseUser(workspace.id, Number(target.id));
  },
};
