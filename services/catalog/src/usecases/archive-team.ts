import { archive } from '../domain/archiving.ts';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import { change } from './change.ts';
import type { Caller, Tools } from './context.ts';
import { saveTeam } from './save-team.ts';

/**
 * Takes a team out of use (contract: Catalog): it stays readable and keeps its slug; teams below it and services that it
 * owns keep their reference.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function archiveTeam(tools: Tools, command: Caller & { id: number }): Promise<Team> {
  const { workspace } = command.principal;
  await tools.replicas.refresh(workspace);
  return change(tools, command, async ({ trx, nextVersion }) => {
    const team = archive(await teamStore(trx, workspace.id).getForUpdate(command.id), tools.clock.now());
    await saveTeam({ trx, caller: command, team, version: await nextVersion() });
    return team;
  });
}
