import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkName } from '../domain/checks.ts';
import { type User, type UserProperties, userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { announceUser } from './announce.ts';
import { getUser, getWorkspace } from './lookups.ts';
import { checkUserQuota } from './quotas.ts';

/** Changes the given properties of a user; `active: false` makes their keys invalid (contract: Administration). */
export async function setUser(
  trx: Knex.Transaction,
  { workspace: slug, email, ...changes }: { workspace: string; email: string } & Partial<UserProperties>,
  now: Instant,
): Promise<User> {
  const properties = { ...changes, ...(changes.name !== undefined && { name: checkName(changes.name) }) };
  const { id } = await getWorkspace(trx, slug);
  const workspace = await workspaceStore(trx).raiseVersion(id);
  const current = await getUser(trx, workspace, email);
  if (properties.active === true && !current.active) await checkUserQuota(trx, { workspace, isNew: false });
  const user = await userStore(trx).change(current.id, properties, { version: workspace.version, now });
  await announceUser(trx, { workspace, user, now });
  return user;
}
