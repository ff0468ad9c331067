import { outbox } from '@tocsin/messaging';
import type { Instant, Knex } from '@tocsin/runtime';
import { announceChange } from '../store/change-notice.ts';
import type { User } from '../store/user-store.ts';
import type { Workspace } from '../store/workspace-store.ts';

const eventWorkspace = ({ id, slug, isDemo }: Workspace) => ({ id, slug, is_demo: isDemo });

/** Tells everybody of a workspace's change: other systems by its event, running gateways at once. */
export async function announceWorkspace(trx: Knex.Transaction, workspace: Workspace, now: Instant): Promise<void> {
  await outbox(trx).add({
    type: 'workspace.changed',
    occurredAt: now,
    workspace: eventWorkspace(workspace),
    requestId: null,
    data: {
      version: workspace.version,
      workspace: {
        name: workspace.name,
        history_days: workspace.historyDays,
        reporting_currency: workspace.reportingCurrency,
        short_title_required: workspace.shortTitleRequired,
      },
    },
  });
  await announceChange(trx);
}

/** Tells everybody of a user's change; `workspace` as the change left it. */
export async function announceUser(
  trx: Knex.Transaction,
  { workspace, user, now }: { workspace: Workspace; user: User; now: Instant },
): Promise<void> {
  const { id, email, name, active, seat, role } = user;
  await outbox(trx).add({
    type: 'user.changed',
    occurredAt: now,
    workspace: eventWorkspace(workspace),
    requestId: null,
    data: { version: workspace.version, user: { id, email, name, active, seat, role } },
  });
  await announceChange(trx);
}
