import { invalid } from '@tocsin/http';

/** Levels of teams under one root, the root counted (contract: Catalog). */
export const MAX_LEVELS = 32;

/** A team and the place in the hierarchy where it is to hang. Archived teams keep their places and count. */
export interface Placement {
  /** `undefined` for a team that is yet to be made. */
  teamId: number | undefined;
  /** Levels from the team down to its lowest descendant, itself counted. */
  height: number;
  /** The parent that it is to have, that one's parent, and so on to the root. */
  line: readonly number[];
}

/** @throws DomainError `invalid_request` naming `parent_team_id` for a team under itself, or too deep a hierarchy */
export function checkPlacement({ teamId, height, line }: Placement): void {
  if (teamId !== undefined && line.includes(teamId)) {
    throw invalid('parent_team_id', 'Must not be the team itself or a team below it');
  }
  if (line.length + height > MAX_LEVELS) {
    throw invalid('parent_team_id', `Teams can be nested at most ${MAX_LEVELS} levels deep`);
  }
}
