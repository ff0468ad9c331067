import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { checkReaches } from '../domain/authority.ts';
import { checkEmail, checkName } from '../domain/checks.ts';
import type { Role, Seat } from '../domain/roles.ts';
import { type User, userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { type CommandContext, findManager } from './actor.ts';
import { announceUser } from './announce.ts';
import { checkUserQuota } from './quotas.ts';
import { recordUserChange } from './record-change.ts';

export interface NewUser {
  workspaceId: number;
  email: string;
  name: string;
  role?: Role | undefined;
  seat?: Seat | undefined;
}

/**
 * Creates an active user, by default a member without a seat (contract: Users).
 * @throws DomainError `permission_denied` for a role above the actor's, `invalid_resource_state` for an email address that
 *   another user has, or for the quota
 */
export async function createUser(trx: Knex.Transaction, input: NewUser, context: CommandContext): Promise<User> {
  const { workspaceId, email, role = 'member', seat = 'none' } = input;
  const { actor, now } = context;
  checkEmail(email);
  const name = checkName(input.name);
  const workspace = await workspaceStore(trx).raiseVersion(workspaceId);
  checkReaches(await findManager(trx, { workspaceId, actor }), role, 'role');
  // The workspace's row is locked, so no other user of it can be created now. A failed insert would use up an ID.
  const store = userStore(trx);
  const existing = await store.findByEmail(workspaceId, email);
  if (existing !== undefined) {
    throw new DomainError('invalid_resource_state', `A user with the email ${email} exists already`, {
      field: 'email',
      details: { existing_id: existing.id },
    });
  }
  await checkUserQuota(trx, { workspace, isNew: true });
  const user = await store.insert(
    { workspaceId, email, name, active: true, role, seat },
    { version: workspace.version, now },
  );
  await announceUser(trx, { workspace, user, now });
  await recordUserChange(trx, context, { workspace, verb: 'created', before: null, after: user });
  return user;
}
