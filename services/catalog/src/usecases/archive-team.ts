import { outbox } from '@tocsin/messaging';
import { archive, type Caller, restore, runVersionedTransaction } from '@tocsin/resources';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import type { Dependencies } from './context.ts';
import { teamChanged } from './events.ts';
import { checkKeptTeam } from './team-references.ts';

type ArchiveTeamCommand = Caller & { id: number };

/**
 * Archives a team (contract: Catalog). It stays readable and keeps its slug; the teams below it and the services that it owns
 * keep their references.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export const archiveTeam = async (dependencies: Dependencies, command: ArchiveTeamCommand): Promise<Team> =>
  changeState(dependencies, command, archive);

/**
 * Restores an archived team (contract: Catalog).
 * @throws DomainError `not_found`, `invalid_resource_state` also for the quota, `invalid_relationship_state` if its parent is archived
 */
export const restoreTeam = async (dependencies: Dependencies, command: ArchiveTeamCommand): Promise<Team> =>
  changeState(dependencies, command, restore);

async function changeState(
  dependencies: Dependencies,
  command: ArchiveTeamCommand,
  transition: typeof archive,
): Promise<Team> {
  const { workspace } = command.principal;
  await dependencies.userReplica.refresh(workspace);
  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    const store = teamStore(trx, workspace.id);
    // A restoration locks two teams, itself and its parent.
    if (transition === restore) await store.lockHierarchy();
    const team = transition(await store.getForUpdate(command.id), dependencies.clock.now());
    const isActive = team.archivedAt === null;
    if (isActive) {
      await checkKeptTeam(trx, { workspaceId: workspace.id, id: team.parentTeamId, field: 'parent_team_id' });
    }
    const version = await nextVersion();
    if (isActive) await store.checkQuota({ workspace, isNew: false });
    await store.update(team, version);
    await outbox(trx).add(teamChanged(command, team, version));
    return team;
  });
}
