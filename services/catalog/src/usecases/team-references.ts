import { DomainError, invalidRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { checkParentChange } from '../domain/hierarchy.ts';
import type { OwnerTeam } from '../domain/service.ts';
import { teamHierarchy, teamStore } from '../store/team-store.ts';

/** A property that names a team. */
type TeamField = 'owner_team_id' | 'parent_team_id';

/** Returns the team that a request refers to. @throws DomainError `invalid_request` naming `field` unless it is active */
export async function getActiveTeam(
  trx: Knex.Transaction,
  { workspaceId, id, field }: { workspaceId: number; id: number; field: TeamField },
): Promise<OwnerTeam> {
  const team = await teamStore(trx, workspaceId).findForReference(id);
  if (team?.archivedAt !== null) throw invalidRequest(field, 'Must be an active team');
  return team;
}

/**
 * Checks the team that an archived resource still refers to, before the resource is restored.
 * @throws DomainError `invalid_relationship_state` naming `field` if the team is archived
 */
export async function checkKeptTeam(
  trx: Knex.Transaction,
  { workspaceId, id, field }: { workspaceId: number; id: number | null; field: TeamField },
): Promise<void> {
  if (id === null) return;
  const team = await teamStore(trx, workspaceId).findForReference(id);
  if (team?.archivedAt !== null) {
    throw new DomainError('invalid_relationship_state', 'The team that it belongs to must be restored first', {
      field,
    });
  }
}

/**
 * Checks a team's new parent. The caller holds the lock of the hierarchy.
 * @param teamId `undefined` for a new team
 * @throws DomainError `invalid_request` naming `parent_team_id`
 */
export async function checkParent(
  trx: Knex.Transaction,
  { workspaceId, teamId, parentId }: { workspaceId: number; teamId: number | undefined; parentId: number },
): Promise<void> {
  await getActiveTeam(trx, { workspaceId, id: parentId, field: 'parent_team_id' });
  const hierarchy = teamHierarchy(trx, workspaceId);
  checkParentChange({
    teamId,
    subtreeHeight: teamId === undefined ? 1 : await hierarchy.subtreeHeight(teamId),
    pathToRoot: await hierarchy.pathToRoot(parentId),
  });
}
