import { invalid, wrongState } from '@tocsin/http';
import { checkWritable } from '../domain/archiving.ts';
import type { Member, MemberRole } from '../domain/member.ts';
import { memberStore } from '../store/member-store.ts';
import { teamStore } from '../store/team-store.ts';
import { userStore } from '../store/user-store.ts';
import type { Tools, Caller } from './context.ts';

export interface AddMemberCommand extends Caller {
  teamId: number;
  userId: number;
  role: MemberRole;
}

/**
 * Makes an active user a member of an active team (contract: Catalog); the team's revision stays.
 * @throws DomainError `not_found`, `invalid_resource_state` (archived, or a member already), `invalid_request` naming `user_id`
 */
export async function addMember(tools: Tools, command: AddMemberCommand): Promise<Member> {
  const { principal, teamId, userId, role } = command;
  const { workspace } = principal;
  await tools.replicas.refresh(workspace);
  return tools.database.transaction(async (trx) => {
    checkWritable(await teamStore(trx, workspace.id).getForUpdate(teamId));
    if (!(await userStore(trx, workspace.id).isActive(userId))) {
      throw invalid('user_id', 'Must be an active user of the workspace');
    }
    const members = memberStore(trx, teamId);
    if (!(await members.add({ userId, role, now: tools.clock.now() })))
      throw wrongState('The user is a member already');
    return members.get(userId);
  });
}
