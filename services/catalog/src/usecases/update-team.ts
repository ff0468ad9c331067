import { checkRevision } from '@tocsin/http';
import { outbox } from '@tocsin/messaging';
import { type Caller, changedProperties, checkNotArchived, revise, runVersionedTransaction } from '@tocsin/resources';
import type { Team, TeamProperties } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import type { Dependencies } from './context.ts';
import { teamChanged } from './events.ts';
import { teamProperties, type WireTeam } from './properties.ts';
import { checkParent } from './team-references.ts';

export interface UpdateTeamCommand extends Caller {
  id: number;
  expectedRevision: number;
  body: WireTeam;
}

/**
 * Changes properties of an active team (contract: Catalog). Values equal to the stored ones change nothing and are not checked
 * again, so a request may repeat a parent that has been archived since.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateTeam(dependencies: Dependencies, command: UpdateTeamCommand): Promise<Team> {
  const { principal, id, expectedRevision, body } = command;
  const workspaceId = principal.workspace.id;
  const requested = teamProperties(body);
  await dependencies.userReplica.refresh(principal.workspace);

  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    const store = teamStore(trx, workspaceId);
    if (typeof requested.parentTeamId === 'number') await store.lockHierarchy();
    const current = await store.getForUpdate(id);
    checkNotArchived(current);
    checkRevision(current.revision, expectedRevision);
    const changed = changedProperties<TeamProperties>(current, requested);
    if (changed === undefined) return current;

    const { parentTeamId: parentId } = changed;
    if (typeof parentId === 'number') await checkParent(trx, { workspaceId, teamId: id, parentId });
    const version = await nextVersion();
    if (typeof changed.externalId === 'string') await store.checkExternalId(changed.externalId, id);
    const team = revise(current, changed, dependencies.clock.now());
    await store.update(team, version);
    await outbox(trx).add(teamChanged(command, team, version));
    return team;
  });
}
