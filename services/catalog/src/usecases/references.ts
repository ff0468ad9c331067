import { DomainError, invalid } from '@tocsin/http';
import type { Knex } from '@tocsin/runtime';
import { checkPlacement } from '../domain/hierarchy.ts';
import type { OwnerTeam } from '../domain/service.ts';
import { teamStore } from '../store/team-store.ts';

/** A property that names a team. */
type TeamField = 'owner_team_id' | 'parent_team_id';

/** A team that a request refers to. @throws DomainError `invalid_request` naming `field` unless it is active */
export async function getActiveTeam(
  trx: Knex.Transaction,
  { workspaceId, id, field }: { workspaceId: number; id: number; field: TeamField },
): Promise<OwnerTeam> {
  const team = await teamStore(trx, workspaceId).findForReference(id);
  if (team?.archivedAt !== null) throw invalid(field, 'Must be an active team');
  return team;
}

/** @throws DomainError `invalid_relationship_state` naming `field` when the team that a resource has kept is archived */
export async function checkRetained(
  trx: Knex.Transaction,
  { workspaceId, id, field }: { workspaceId: number; id: number | null; field: TeamField },
): Promise<void> {
  if (id === null) return;
  const team = await teamStore(trx, workspaceId).findForReference(id);
  if (team?.archivedAt !== null) {
    throw new DomainError('invalid_relationship_state', 'Restore the team that it belongs to first', { field });
  }
}

/**
 * Checks the parent that a team is to have; the caller holds the lock of the hierarchy.
 * @param teamId `undefined` for a team that is yet to be made
 * @throws DomainError `invalid_request` naming `parent_team_id`
 */
export async function checkParent(
  trx: Knex.Transaction,
  { workspaceId, teamId, parentId }: { workspaceId: number; teamId?: number; parentId: number },
): Promise<void> {
  await getActiveTeam(trx, { workspaceId, id: parentId, field: 'parent_team_id' });
  const store = teamStore(trx, workspaceId);
  checkPlacement({
    teamId,
    height: teamId === undefined ? 1 : await store.heightOf(teamId),
    line: await store.lineOf(parentId),
  });
}
