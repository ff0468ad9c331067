import type { Knex } from '@tocsin/postgres';
import type { CommandContext } from '../accounts/actor.ts';
import { existing } from '../accounts/lookups.ts';
import type { Condition } from '../accounts/domain/directory.ts';
import { type DirectoryUser, scimUserStore } from '../accounts/store/scim-user-store.ts';
import { workspaceStore } from '../accounts/store/workspace-store.ts';
import { createUser, setUser } from '../accounts/users.ts';
import { checkNames } from './checks.ts';

export interface UserInput {
  workspaceId: number;
  /** Undefined: a new one. */
  id: number | undefined;
  userName: string;
  /** Undefined: it stays. */
  externalId: string | null | undefined;
  email: string;
  name: string;
  active: boolean | undefined;
}

/** @throws DomainError `not_found`, also for a user of another workspace */
export async function getUser(db: Knex, workspaceId: number, id: number): Promise<DirectoryUser> {
  const conditions: Condition[] = [{ name: 'id', value: id }];
  const { users } = await scimUserStore(db).list({ workspaceId, conditions, offset: 0, limit: 1 });
  return existing(Promise.resolve(users[0]), 'The user');
}

/**
 * Creates or changes a user as the API does, and stores what their directory calls them. A new one has the least rights.
 * @throws DomainError `not_found`, `invalid_request`, `permission_denied`, `invalid_resource_state`
 */
export async function writeUser(
  trx: Knex.Transaction,
  input: UserInput,
  context: CommandContext,
): Promise<DirectoryUser> {
  const { workspaceId, id, userName, email, name, active } = input;
  await workspaceStore(trx).lock(workspaceId);
  const current = id === undefined ? undefined : await getUser(trx, workspaceId, id);
  const { externalId = current?.externalId ?? null } = input;
  const find = async (conditions: Condition[]) =>
    (await scimUserStore(trx).list({ workspaceId, conditions, offset: 0, limit: 2 })).users;
  await checkNames({ userName, externalId }, { id, find });
  const target =
    current ?? (await createUser(trx, { workspaceId, email, name, role: 'viewer', seat: 'none' }, context));
  const user = await setUser(trx, { workspaceId, id: target.id, changes: { email, name, active } }, context);
  const written = { ...user, userName, externalId };
  await scimUserStore(trx).put(written);
  return written;
}

/** Users are never deleted (contract: Users). */
export async function deactivateUser(
  trx: Knex.Transaction,
  input: { workspaceId: number; id: number },
  context: CommandContext,
): Promise<void> {
  await setUser(trx, { ...input, changes: { active: false } }, context);
}
