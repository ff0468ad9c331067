import type { Instant, Knex } from '@tocsin/runtime';
import { checkName } from '../domain/checks.ts';
import { type User, type UserProperties, userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { announceUser } from './announce.ts';
import { getUser, getWorkspace } from './find.ts';

/** Changes what is given of a user; `active: false` makes their keys invalid (contract: Administration). */
export async function setUser(
  trx: Knex.Transaction,
  { workspace: slug, email, ...given }: { workspace: string; email: string } & Partial<UserProperties>,
  now: Instant,
): Promise<User> {
  const properties = { ...given, ...(given.name !== undefined && { name: checkName(given.name) }) };
  const found = await getUser(trx, await getWorkspace(trx, slug), email);
  const workspace = await workspaceStore(trx).raiseVersion(found.workspaceId);
  const user = await userStore(trx).change(found.id, properties, { version: workspace.version, now });
  await announceUser(trx, { workspace, user, now });
  return user;
}
