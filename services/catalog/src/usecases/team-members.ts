import { invalidRequest, invalidState, serviceUnavailable } from '@tocsin/http';
import { type Caller, checkNotArchived } from '@tocsin/versioned-resources';
import type { Member, MemberRole } from '../domain/member.ts';
import { memberStore } from '../store/member-store.ts';
import { teamStore } from '../store/team-store.ts';
import { userStore } from '../store/user-store.ts';
import type { Dependencies } from './context.ts';

/** A command about one user's membership in one team. */
export interface MemberCommand extends Caller {
  teamId: number;
  userId: number;
}

/**
 * Adds an active user to an active team (contract: Catalog). The team's revision does not change.
 * @throws DomainError `not_found`; `invalid_resource_state` if the team is archived or the user is already a member;
 *   `invalid_request` naming `user_id`; `service_unavailable` if the user cannot be checked
 */
export async function addMember(
  dependencies: Dependencies,
  command: MemberCommand & { role: MemberRole },
): Promise<Member> {
  const { principal, teamId, userId, role } = command;
  const { workspace } = principal;
  const isCurrent = await dependencies.userReplica.refresh(workspace);
  return dependencies.database.transaction(async (trx) => {
    const teams = teamStore(trx, workspace.id);
    const isActive = await userStore(trx, workspace.id).lockActive(userId);
    checkNotArchived(await teams.getForUpdate(teamId));
    if (!isActive) {
      if (!isCurrent) throw serviceUnavailable('The user cannot be checked at the moment');
      throw invalidRequest('user_id', 'Must be an active user of the workspace');
    }
    const members = memberStore(trx, { workspaceId: workspace.id, teamId });
    if (!(await members.add({ userId, role, now: dependencies.clock.now() })))
      throw invalidState('The user is already a member');
    await teams.recount(teamId);
    return members.get(userId);
  });
}

/**
 * Changes a member's role (contract: Catalog). An equal role, or none, changes nothing.
 * @throws DomainError `not_found` for the team or the member, `invalid_resource_state`
 */
export async function updateMember(
  dependencies: Dependencies,
  command: MemberCommand & { role: MemberRole | undefined },
): Promise<Member> {
  const { principal, teamId, userId, role } = command;
  await dependencies.userReplica.refresh(principal.workspace);
  return dependencies.database.transaction(async (trx) => {
    const team = await teamStore(trx, principal.workspace.id).getForUpdate(teamId);
    const members = memberStore(trx, { workspaceId: principal.workspace.id, teamId });
    const current = await members.get(userId);
    checkNotArchived(team);
    if (role === undefined || role === current.role) return current;
    await members.setRole(userId, { role, now: dependencies.clock.now() });
    return members.get(userId);
  });
}

/**
 * Removes a member from a team (contract: Catalog). Succeeds as well if the user is not a member.
 * @throws DomainError `not_found` for the team, `invalid_resource_state`
 */
export async function removeMember(dependencies: Dependencies, command: MemberCommand): Promise<void> {
  const { principal, teamId, userId } = command;
  await dependencies.database.transaction(async (trx) => {
    const teams = teamStore(trx, principal.workspace.id);
    checkNotArchived(await teams.getForUpdate(teamId));
    await memberStore(trx, { workspaceId: principal.workspace.id, teamId }).remove(userId);
    await teams.recount(teamId);
  });
}
