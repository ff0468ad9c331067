import { buildPage, type Cursors, cursorsOf } from '@tocsin/http';
import { readListQuery, resourceHandlers } from '@tocsin/versioned-resources';
import { sortKeyOf } from '../domain/sort-key.ts';
import { teamStore } from '../store/team-store.ts';
import type { Dependencies } from '../usecases/context.ts';
import { teamCommands, teamProperties, teams } from '../usecases/teams.ts';
import { type CatalogApi, contracts } from './contracts.ts';
import { teamView } from './views.ts';

const { path } = contracts.listTeams;

export function teamHandlers(
  dependencies: Dependencies,
  cursors: Cursors,
): Pick<CatalogApi, 'listTeams' | 'createTeam' | 'getTeam' | 'updateTeam' | 'archiveTeam' | 'restoreTeam'> {
  const { database, userReplica } = dependencies;
  const one = resourceHandlers({
    database,
    kind: teams,
    commands: teamCommands(dependencies),
    properties: teamProperties,
    bodyOf: (team) => ({ team: teamView(team) }),
    refresh: userReplica.refresh,
  });
  const positions = cursorsOf(cursors, { name: 'name', keys: ['text', 'integer'] });
  return {
    listTeams: async ({ principal: { workspace }, query }) => {
      const { limit, scope, listed, after } = readListQuery(query, { workspaceId: workspace.id, path, positions });
      await userReplica.refresh(workspace);
      const { rows, pagination } = await buildPage({
        listed: await teamStore(database, workspace.id).list({
          ...listed,
          after: after && { sortKey: after[0], id: after[1] },
        }),
        limit,
        view: teamView,
        nextCursor: ({ name, id }) => positions.encode([sortKeyOf(name), id], scope),
      });
      return { body: { teams: rows, pagination } };
    },

    getTeam: one.get,
    createTeam: one.createOnce,
    updateTeam: one.update,
    archiveTeam: one.archive,
    restoreTeam: one.restore,
  };
}
