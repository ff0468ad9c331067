import type { Instant, Knex } from '@tocsin/runtime';
import { checkEmail, checkName } from '../domain/checks.ts';
import type { Role, Seat } from '../domain/roles.ts';
import { type User, userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { announceUser } from './announce.ts';
import { getWorkspace } from './find.ts';

export interface NewUser {
  /** The workspace's slug. */
  workspace: string;
  email: string;
  name: string;
  role?: Role | undefined;
  seat?: Seat | undefined;
}

/** Makes an active user: a member without a seat, unless more is given (contract: Administration). */
export async function createUser(trx: Knex.Transaction, input: NewUser, now: Instant): Promise<User> {
  checkEmail(input.email);
  const name = checkName(input.name);
  const { id: workspaceId } = await getWorkspace(trx, input.workspace);
  const workspace = await workspaceStore(trx).raiseVersion(workspaceId);
  const user = await userStore(trx).insert(
    { workspaceId, email: input.email, name, active: true, role: input.role ?? 'member', seat: input.seat ?? 'none' },
    { version: workspace.version, now },
  );
  await announceUser(trx, { workspace, user, now });
  return user;
}
