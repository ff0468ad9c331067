import { invalidState } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkEmail, checkName } from '../domain/checks.ts';
import type { Role, Seat } from '../domain/roles.ts';
import { type User, userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { announceUser } from './announce.ts';
import { getWorkspace } from './lookups.ts';
import { checkUserQuota } from './quotas.ts';

export interface NewUser {
  /** The workspace's slug. */
  workspace: string;
  email: string;
  name: string;
  role?: Role | undefined;
  seat?: Seat | undefined;
}

/** Creates an active user, by default a member without a seat (contract: Administration). */
export async function createUser(trx: Knex.Transaction, input: NewUser, now: Instant): Promise<User> {
  checkEmail(input.email);
  const name = checkName(input.name);
  const { id: workspaceId } = await getWorkspace(trx, input.workspace);
  const workspace = await workspaceStore(trx).raiseVersion(workspaceId);
  // The workspace's row is locked, so no other user of it can be created now. A failed insert would use up an ID.
  const store = userStore(trx);
  if ((await store.findByEmail(workspaceId, input.email)) !== undefined) {
    throw invalidState(`A user with the email ${input.email} exists already`);
  }
  await checkUserQuota(trx, { workspace, isNew: true });
  const user = await store.insert(
    { workspaceId, email: input.email, name, active: true, role: input.role ?? 'member', seat: input.seat ?? 'none' },
    { version: workspace.version, now },
  );
  await announceUser(trx, { workspace, user, now });
  return user;
}
