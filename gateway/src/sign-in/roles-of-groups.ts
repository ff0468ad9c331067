import type { Knex } from '@tocsin/postgres';
import { isAbove, permissionsOf, type Role, ROLES } from '../identity/domain/roles.ts';
import type { CommandContext } from '../accounts/actor.ts';
import { scimMemberStore } from '../accounts/store/scim-group-store.ts';
import { type User, userStore } from '../accounts/store/user-store.ts';
import { setUser } from '../accounts/users.ts';
import { givenByGroups } from './domain/group-mapping.ts';

/**
 * Returns the groups of a person that count: as soon as the workspace has groups by SCIM, those, and not the ones of a
 * token.
 * @param userId undefined: of nobody whom the directory could know
 */
export async function countedGroups(
  trx: Knex.Transaction,
  { workspaceId, userId, claimed }: { workspaceId: number; userId: number | undefined; claimed: readonly string[] },
): Promise<readonly string[]> {
  const groups = scimMemberStore(trx);
  if (!(await groups.hasAny(workspaceId))) return claimed;
  return userId === undefined ? [] : ((await groups.namesOf(workspaceId, [userId])).get(userId) ?? []);
}

/** Gives a user the role and the seat of their groups, if groups give them. */
export async function giveRoleAndSeat(
  trx: Knex.Transaction,
  { user, given }: { user: User; given: ReturnType<typeof givenByGroups> },
  context: CommandContext,
): Promise<void> {
  const { role = user.role, seat = user.seat } = given;
  const changes = { role: (await isNeeded(trx, user, role)) ? user.role : role, seat };
  if (changes.role === user.role && seat === user.seat) return;
  await setUser(trx, { workspaceId: user.workspaceId, id: user.id, changes }, context);
}

/** Whether nobody else could do what a user can no longer do with another role. */
async function isNeeded(trx: Knex.Transaction, user: User, role: Role): Promise<boolean> {
  if (!user.active || !isAbove(user.role, role)) return false;
  const hasOther = async (roles: readonly Role[]) => userStore(trx).hasOther(user, roles);
  if (user.role === 'owner' && !(await hasOther(['owner']))) return true;
  const managers = ROLES.filter((each) => permissionsOf(each).includes('manage_settings'));
  return managers.includes(user.role) && !managers.includes(role) && !(await hasOther(managers));
}
