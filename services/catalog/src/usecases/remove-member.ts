import { checkWritable } from '../domain/archiving.ts';
import { memberStore } from '../store/member-store.ts';
import { teamStore } from '../store/team-store.ts';
import type { Caller, Tools } from './context.ts';

/**
 * Ends a membership (contract: Catalog); safe to repeat, and for anybody who is no member.
 * @throws DomainError `not_found` for the team, `invalid_resource_state`
 */
export async function removeMember(tools: Tools, command: Caller & { teamId: number; userId: number }): Promise<void> {
  const { principal, teamId, userId } = command;
  await tools.database.transaction(async (trx) => {
    checkWritable(await teamStore(trx, principal.workspace.id).getForUpdate(teamId));
    await memberStore(trx, teamId).remove(userId);
  });
}
