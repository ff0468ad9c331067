import { checkRevision } from '@tocsin/http';
import { checkWritable } from '../domain/archiving.ts';
import { differences } from '../domain/differences.ts';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import { change } from './change.ts';
import type { Caller, Tools } from './context.ts';
import { teamProperties, type WireTeam } from './properties.ts';
import { checkParent } from './references.ts';
import { saveTeam } from './save-team.ts';

export interface UpdateTeamCommand extends Caller {
  id: number;
  expectedRevision: number;
  body: WireTeam;
}

/**
 * Changes some properties of an active team (contract: Catalog). Values equal to the stored ones change nothing, so a parent
 * that is archived by now may be named again.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateTeam(tools: Tools, command: UpdateTeamCommand): Promise<Team> {
  const { principal, id, expectedRevision, body } = command;
  const workspaceId = principal.workspace.id;
  const said = teamProperties(body);
  await tools.replicas.refresh(principal.workspace);

  return change(tools, command, async ({ trx, nextVersion }) => {
    const store = teamStore(trx, workspaceId);
    if (typeof said.parentTeamId === 'number') await store.lockHierarchy();
    const current = await store.getForUpdate(id);
    checkWritable(current);
    checkRevision(current.revision, expectedRevision);
    const changed = differences(current, said);
    if (changed === undefined) return current;

    const { parentTeamId: parentId } = changed;
    if (typeof parentId === 'number') await checkParent(trx, { workspaceId, teamId: id, parentId });
    const version = await nextVersion();
    const team = { ...current, ...changed, revision: current.revision + 1, updatedAt: tools.clock.now() };
    await saveTeam({ trx, caller: command, team, version });
    return team;
  });
}
