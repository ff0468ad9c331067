import { checkRevision, DomainError, notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { checkReaches } from '../domain/authority.ts';
import { checkName } from '../domain/checks.ts';
import { type User, type UserProperties, userStore } from '../store/user-store.ts';
import { keyStore } from '../store/key-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { type CommandContext, findManager } from './actor.ts';
import { announceUser } from './announce.ts';
import { checkUserQuota } from './quotas.ts';
import { recordUserChange } from './record-change.ts';

type RequestedProperties = { [Name in keyof UserProperties]?: UserProperties[Name] | undefined };

export interface UserChange {
  workspaceId: number;
  id: number;
  changes: RequestedProperties;
  /** Without one, the user may have any. */
  expectedRevision?: number;
}

/**
 * Changes the given properties of a user; `active: false` makes their keys invalid and ends their sessions (contract:
 * Users).
 * @throws DomainError `not_found`, `permission_denied`, `precondition_failed`, `invalid_resource_state` for the last active
 *   owner or the quota, in this order
 */
export async function setUser(trx: Knex.Transaction, input: UserChange, context: CommandContext): Promise<User> {
  const { workspaceId, id, changes, expectedRevision } = input;
  const { actor, now } = context;
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

  if (acting !== undefined) await checkOwnerRemains(trx, current, properties);
  const workspace = await workspaceStore(trx).raiseVersion(workspaceId);
  if (properties.active === true) await checkUserQuota(trx, { workspace, isNew: false });
  const user = await store.change(id, properties, { version: workspace.version, now });
  if (properties.active === false) await keyStore(trx).revokeSessions(id, { keep: 0, now });
  await announceUser(trx, { workspace, user, now });
  await recordUserChange(trx, context, { workspace, verb: 'updated', before: current, after: user });
  return user;
}

const differences = (current: User, requested: RequestedProperties): Partial<UserProperties> =>
  Object.fromEntries(
    Object.entries(requested).filter(
      ([name, value]) => value !== undefined && value !== current[name as keyof UserProperties],
    ),
  );

/** A workspace without an owner could not be given one through the API. */
async function checkOwnerRemains(
  trx: Knex.Transaction,
  current: User,
  { role = current.role, active = current.active }: Partial<UserProperties>,
): Promise<void> {
  const isOwner = current.role === 'owner' && current.active;
  if (!isOwner || (role === 'owner' && active)) return;
  if (await userStore(trx).hasOtherOwner(current.workspaceId, current.id)) return;
  throw new DomainError('invalid_resource_state', `${current.name} is the last active owner of the workspace`, {
    field: role === 'owner' ? 'active' : 'role',
    details: { last_owner_id: current.id },
  });
}
