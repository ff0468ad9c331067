import { outbox } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { announceIdentityChange } from '../identity/store/identity-changes.ts';
import type { User } from './store/user-store.ts';
import type { Workspace } from './store/workspace-store.ts';

export const eventWorkspace = ({ id, slug, isDemo }: Workspace) => ({ id, slug, is_demo: isDemo });

/** Adds the event of a workspace's change to the outbox, and notifies running gateways. */
export async function announceWorkspace(trx: Knex.Transaction, workspace: Workspace, now: Instant): Promise<void> {
  await publishWorkspace(trx, workspace, now);
  await announceIdentityChange(trx);
}

/** Adds the event of a workspace's change to the outbox. */
export async function publishWorkspace(trx: Knex.Transaction, workspace: Workspace, now: Instant): Promise<void> {
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
}

interface UserChange {
  /** Has the new version. */
  workspace: Workspace;
  user: User;
  now: Instant;
}

/** Adds the event of a user's change to the outbox, and notifies running gateways. */
export async function announceUser(trx: Knex.Transaction, change: UserChange): Promise<void> {
  await publishUser(trx, change);
  await announceIdentityChange(trx);
}

/** Adds the event of a user's change to the outbox. */
export async function publishUser(trx: Knex.Transaction, { workspace, user, now }: UserChange): Promise<void> {
  const { id, email, name, active, seat, role } = user;
  await outbox(trx).add({
    type: 'user.changed',
    occurredAt: now,
    workspace: eventWorkspace(workspace),
    requestId: null,
    data: { version: workspace.version, user: { id, email, name, active, seat, role } },
  });
}
