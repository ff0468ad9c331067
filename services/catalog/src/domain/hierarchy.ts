import { invalidRequest } from '@tocsin/http';

/** The maximum number of levels of teams, the root included (contract: Catalog). */
export const MAX_LEVELS = 32;

/** A team and its new place in the hierarchy. Archived teams keep their places and count. */
export interface ParentChange {
  /** `undefined` for a new team. */
  teamId: number | undefined;
  /** The number of levels from the team down to its lowest descendant, the team included. */
  subtreeHeight: number;
  /** The IDs of the new parent, its parent, and so on up to the root. */
  pathToRoot: readonly number[];
}

/**
 * @throws DomainError `invalid_request` naming `parent_team_id` if the team would be below itself or the hierarchy would
 *   become too deep
 */
export function checkParentChange({ teamId, subtreeHeight, pathToRoot }: ParentChange): void {
  if (teamId !== undefined && pathToRoot.includes(teamId)) {
    throw invalidRequest('parent_team_id', 'Must not be the team itself or a team below it');
  }
  if (pathToRoot.length + subtreeHeight > MAX_LEVELS) {
    throw invalidRequest('parent_team_id', `Teams can be nested at most ${MAX_LEVELS} levels deep`);
  }
}
