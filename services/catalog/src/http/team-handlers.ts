import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT, idempotently } from '@tocsin/http';
import { sortKeyOf } from '../domain/sort-key.ts';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import { archiveTeam, restoreTeam } from '../usecases/archive-team.ts';
import type { Dependencies } from '../usecases/context.ts';
import { createTeam } from '../usecases/create-team.ts';
import { updateTeam } from '../usecases/update-team.ts';
import { type CatalogApi, contracts } from './contracts.ts';
import { teamView } from './views.ts';

const { path } = contracts.listTeams;
const reply = (team: Team) => ({ body: { team: teamView(team) }, revision: team.revision });

export function teamHandlers(
  dependencies: Dependencies,
  cursors: Cursors,
): Pick<CatalogApi, 'listTeams' | 'createTeam' | 'getTeam' | 'updateTeam' | 'archiveTeam' | 'restoreTeam'> {
  const { database, userReplica } = dependencies;
  const positions = cursorsOf(cursors, { name: 'name', keys: ['text', 'integer'] });
  return {
    listTeams: async ({ principal: { workspace }, query }) => {
      const {
        limit = DEFAULT_LIMIT,
        cursor,
        include_archived: includeArchived = false,
        external_id: externalId,
      } = query;
      const scope = { workspaceId: workspace.id, path, filters: { includeArchived, externalId } };
      const after = cursor === undefined ? undefined : positions.decode(cursor, scope);
      await userReplica.refresh(workspace);
      const { rows, pagination } = await buildPage({
        listed: await teamStore(database, workspace.id).list({
          limit: limit + 1,
          includeArchived,
          externalId,
          after: after && { sortKey: after[0], id: after[1] },
        }),
        limit,
        view: teamView,
        nextCursor: ({ name, id }) => positions.encode([sortKeyOf(name), id], scope),
      });
      return { body: { teams: rows, pagination } };
    },

    createTeam: async (request) =>
      idempotently(database, request, async (key) => ({
        status: 201,
        revision: 1,
        text: await createTeam(dependencies, {
          principal: request.principal,
          requestId: request.requestId,
          body: request.body,
          key,
          render: (team) => JSON.stringify(reply(team).body),
        }),
      })),

    getTeam: async ({ principal: { workspace }, params: { id } }) => {
      await userReplica.refresh(workspace);
      return reply(await teamStore(database, workspace.id).get(id));
    },

    updateTeam: async ({ principal, requestId, params: { id }, expectedRevision, body }) =>
      reply(await updateTeam(dependencies, { principal, requestId, id, expectedRevision, body })),

    archiveTeam: async ({ principal, requestId, params: { id } }) =>
      reply(await archiveTeam(dependencies, { principal, requestId, id })),

    restoreTeam: async ({ principal, requestId, params: { id } }) =>
      reply(await restoreTeam(dependencies, { principal, requestId, id })),
  };
}
