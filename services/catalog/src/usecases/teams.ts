import type { TeamSnapshot } from '@tocsin/schemas';
import { resourceCommands, type ResourceKind, type WireOf } from '@tocsin/versioned-resources';
import { type Team, TEAM_SLUG, type TeamProperties, teamSnapshot } from '../domain/team.ts';
import { TEAM_COLUMNS, type TEAM_TABLE, teamHierarchy, teamStore } from '../store/team-store.ts';
import type { Dependencies } from './context.ts';
import { checkKeptTeam, checkParent } from './team-references.ts';

export const teams: ResourceKind<Team, { team: TeamSnapshot }> = {
  table: 'teams',
  event: 'team.changed',
  slug: TEAM_SLUG,
  store: teamStore,
  snapshot: (team) => ({ team: teamSnapshot(team) }),
};

/** The properties of a team in a validated request, with their wire names. */
export type WireTeam = WireOf<TeamProperties, typeof TEAM_TABLE>;

/** Returns the properties that a request contains, in the form in which they are stored. */
export const teamProperties = (wire: WireTeam): Partial<TeamProperties> =>
  TEAM_COLUMNS.toProperties({
    ...wire,
    name: wire.name?.trim(),
    external_id: wire.external_id?.trim() ?? wire.external_id,
  });

/**
 * The commands on teams (contract: Catalog). An archived one keeps its slug; the teams below it and the services that it
 * owns keep their references.
 */
export const teamCommands = (dependencies: Dependencies) =>
  resourceCommands<Team, TeamProperties>(dependencies, teams, {
    defaults: { parentTeamId: null, description: null, externalId: null, memberCount: 0 },
    // A restoration locks two teams, itself and its parent.
    lock: async (trx, workspaceId, { changed, isRestored = false }) => {
      if (isRestored || typeof changed?.parentTeamId === 'number') await teamHierarchy(trx, workspaceId).lock();
    },
    check: async ({ trx, workspaceId, current, changed: { parentTeamId } }) => {
      if (typeof parentTeamId === 'number')
        await checkParent(trx, { workspaceId, teamId: current?.id, parentId: parentTeamId });
      return {};
    },
    checkRestored: async (trx, { workspaceId, parentTeamId: id }) =>
      checkKeptTeam(trx, { workspaceId, id, field: 'parent_team_id' }),
  });
