import { checkWritable } from '../domain/archiving.ts';
import type { Member, MemberRole } from '../domain/member.ts';
import { memberStore } from '../store/member-store.ts';
import { teamStore } from '../store/team-store.ts';
import type { Caller, Tools } from './context.ts';

export interface UpdateMemberCommand extends Caller {
  teamId: number;
  userId: number;
  role: MemberRole | undefined;
}

/**
 * Changes a member's role (contract: Catalog); the role that it has, or none, changes nothing.
 * @throws DomainError `not_found` for the team or the member, `invalid_resource_state`
 */
export async function updateMember(tools: Tools, command: UpdateMemberCommand): Promise<Member> {
  const { principal, teamId, userId, role } = command;
  await tools.replicas.refresh(principal.workspace);
  return tools.database.transaction(async (trx) => {
    const team = await teamStore(trx, principal.workspace.id).getForUpdate(teamId);
    const members = memberStore(trx, teamId);
    const current = await members.get(userId);
    checkWritable(team);
    if (role === undefined || role === current.role) return current;
    await members.setRole(userId, { role, now: tools.clock.now() });
    return members.get(userId);
  });
}
