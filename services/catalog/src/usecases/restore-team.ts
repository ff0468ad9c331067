import { restore } from '../domain/archiving.ts';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import { change } from './change.ts';
import type { Caller, Tools } from './context.ts';
import { checkRetained } from './references.ts';
import { saveTeam } from './save-team.ts';

/**
 * Puts an archived team back into use (contract: Catalog).
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_relationship_state` while its parent is archived
 */
export async function restoreTeam(tools: Tools, command: Caller & { id: number }): Promise<Team> {
  const { workspace } = command.principal;
  await tools.replicas.refresh(workspace);
  return change(tools, command, async ({ trx, nextVersion }) => {
    const store = teamStore(trx, workspace.id);
    // It locks its parent besides itself.
    await store.lockHierarchy();
    const team = restore(await store.getForUpdate(command.id), tools.clock.now());
    await checkRetained(trx, { workspaceId: workspace.id, id: team.parentTeamId, field: 'parent_team_id' });
    await saveTeam({ trx, caller: command, team, version: await nextVersion() });
    return team;
  });
}
