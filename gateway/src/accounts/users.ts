import { ARCHIVED_FACTOR, quotaOf } from '@tocsin/schemas';
import { checkRevision, DomainError, invalidState, notFound, quotaExceeded } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { entriesOf } from '@tocsin/runtime';
import { checkReaches } from '../identity/domain/authority.ts';
import type { Role, Seat } from '../identity/domain/roles.ts';
import { checkEmail, checkName } from './domain/checks.ts';
import { sessionStore } from './store/key-store.ts';
import { erasureStore } from './store/erasure-store.ts';
import { loginLinkStore } from './store/login-link-store.ts';
import { type User, type UserProperties, userStore } from './store/user-store.ts';
import { type Workspace, workspaceStore, workspaceVersions } from './store/workspace-store.ts';
import { type CommandContext, findManager } from './actor.ts';
import { announceUser } from './announce.ts';
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
  const workspace = await workspaceVersions(trx).raise(workspaceId);
  checkReaches(await findManager(trx, { workspaceId, actor }), role, 'role');
  // The workspace's row is locked, so no other user of it can be created now. A failed insert would use up an ID.
  await checkEmailIsFree(trx, { workspaceId, email });
  await checkUserQuota(trx, { workspace, isNew: true });
  const user = await userStore(trx).insert(
    { workspaceId, email, name, active: true, role, seat },
    { version: workspace.version, now },
  );
  await announceUser(trx, { workspace, user, now });
  await recordUserChange(trx, context, { workspace, verb: 'created', before: null, after: user });
  return user;
}

type RequestedProperties = { [Name in keyof UserProperties]?: UserProperties[Name] | undefined };

export interface UserChange {
  workspaceId: number;
  id: number;
  changes: RequestedProperties;
  /** Without one, the user may have any. */
  expectedRevision?: number;
}

/**
 * Changes the given properties of a user; `active: false` makes their keys invalid and ends their sessions, and another
 * email address ends their sessions and sign-in links (contract: Users).
 * @throws DomainError `not_found`, `permission_denied`, `precondition_failed`, `invalid_resource_state` for an email address
 *   that another user has, the last active owner or the quota, in this order
 */
export async function setUser(trx: Knex.Transaction, input: UserChange, context: CommandContext): Promise<User> {
  const { workspaceId, id, changes, expectedRevision } = input;
  const { actor, now } = context;
  if (changes.email !== undefined) checkEmail(changes.email);
  const requested = { ...changes, ...(changes.name !== undefined && { name: checkName(changes.name) }) };
  // Changes of one workspace's users wait for each other: of two owners, only one can demote the other.
  await workspaceStore(trx).lock(workspaceId);
  const store = userStore(trx);
  const current = await store.find(workspaceId, id);
  if (current === undefined) throw notFound('The user');
  const acting = await findManager(trx, { workspaceId, actor });
  checkReaches(acting, current.role);
  if (requested.role !== undefined) checkReaches(acting, requested.role, 'role');
  if (expectedRevision !== undefined) checkRevision(current.revision, expectedRevision);
  const properties = differences(current, requested);
  if (Object.keys(properties).length === 0) return current;
  if (await erasureStore(trx).isErased(workspaceId, id)) throw invalidState(`The user ${id} was erased`);

  if (properties.email !== undefined) await checkEmailIsFree(trx, { workspaceId, email: properties.email, userId: id });
  if (acting !== undefined) await checkOwnerRemains(trx, current, properties);
  const workspace = await workspaceVersions(trx).raise(workspaceId);
  if (properties.active === true) await checkUserQuota(trx, { workspace, isNew: false });
  const user = await store.change(current, properties, { version: workspace.version, now });
  // Whoever reads the mail of the former address signs in no more, and is signed out.
  if (properties.email !== undefined) await loginLinkStore(trx).deleteOf(workspaceId, id);
  if (properties.active === false || properties.email !== undefined) {
    await sessionStore(trx).revokeSessions({ workspaceId, userId: id }, { keep: 0, now });
  }
  await announceUser(trx, { workspace, user, now });
  await recordUserChange(trx, context, { workspace, verb: 'updated', before: current, after: user });
  return user;
}

const differences = (current: User, requested: RequestedProperties): Partial<UserProperties> =>
  Object.fromEntries(entriesOf(requested).filter(([name, value]) => value !== undefined && value !== current[name]));

/** A workspace without an owner could not be given one through the API. */
export async function checkOwnerRemains(
  trx: Knex.Transaction,
  current: User,
  { role = current.role, active = current.active }: Partial<UserProperties>,
): Promise<void> {
  const isOwner = current.role === 'owner' && current.active;
  if (!isOwner || (role === 'owner' && active)) return;
  if (await userStore(trx).hasOther(current, ['owner'])) return;
  throw new DomainError('invalid_resource_state', `${current.name} is the last active owner of the workspace`, {
    field: role === 'owner' ? 'active' : 'role',
    details: { last_owner_id: current.id },
  });
}

/**
 * Checks that no other user of the workspace, whose row is locked, has the email address.
 * @param userId of the user who is to have it; absent for a new one
 * @throws DomainError `invalid_resource_state`
 */
export async function checkEmailIsFree(
  trx: Knex.Transaction,
  { workspaceId, email, userId }: { workspaceId: number; email: string; userId?: number },
): Promise<void> {
  const existing = await userStore(trx).findByEmail(workspaceId, email);
  if (existing === undefined || existing.id === userId) return;
  throw new DomainError('invalid_resource_state', `A user with the email ${email} exists already`, {
    field: 'email',
    details: { existing_id: existing.id },
  });
}

/**
 * Checks that a workspace whose row this transaction has locked may have another active user.
 * @param isNew whether the user is created, not activated
 * @throws DomainError `invalid_resource_state`
 */
async function checkUserQuota(
  trx: Knex.Transaction,
  { workspace, isNew }: { workspace: Workspace; isNew: boolean },
): Promise<void> {
  const quota = quotaOf(workspace, 'users');
  if (quota === null) return;
  const { active, all } = await userStore(trx).count(workspace.id, ARCHIVED_FACTOR * quota);
  if (active >= quota) throw quotaExceeded('users', `at most ${quota} active users`);
  if (isNew && all >= ARCHIVED_FACTOR * quota) {
    throw quotaExceeded('users', `at most ${ARCHIVED_FACTOR * quota} users with the deactivated ones`);
  }
}
