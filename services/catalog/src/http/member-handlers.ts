import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import { sortKeyOf } from '../domain/sort-key.ts';
import { membershipsOf, memberStore } from '../store/member-store.ts';
import { teamStore } from '../store/team-store.ts';
import type { Dependencies } from '../usecases/context.ts';
import { addMember, removeMember, updateMember } from '../usecases/team-members.ts';
import { type CatalogApi, contracts } from './contracts.ts';
import { membershipView, memberView } from './views.ts';

const { path } = contracts.listTeamMembers;

export function memberHandlers(
  dependencies: Dependencies,
  cursors: Cursors,
): Pick<
  CatalogApi,
  'listTeamMembers' | 'addTeamMember' | 'updateTeamMember' | 'removeTeamMember' | 'listTeamMemberships'
> {
  const { database, userReplica } = dependencies;
  const positions = cursorsOf(cursors, { name: 'name', keys: ['text', 'integer'] });
  const membershipPositions = cursorsOf(cursors, { name: 'user', keys: ['integer', 'integer'] });
  return {
    listTeamMembers: async ({ principal: { workspace }, params: { id }, query }) => {
      const { limit = DEFAULT_LIMIT, cursor } = query;
      const scope = { workspaceId: workspace.id, path: path.replace('{id}', String(id)) };
      const after = cursor === undefined ? undefined : positions.decode(cursor, scope);
      await userReplica.refresh(workspace);
      const team = await teamStore(database, workspace.id).get(id);
      const { rows, pagination } = await buildPage({
        listed: await memberStore(database, { workspaceId: workspace.id, teamId: team.id }).list({
          limit: limit + 1,
          after: after && { sortKey: after[0], userId: after[1] },
        }),
        limit,
        view: memberView,
        nextCursor: ({ name, userId }) => positions.encode([sortKeyOf(name), userId], scope),
      });
      return { body: { members: rows, pagination } };
    },

    addTeamMember: async ({ principal, requestId, params: { id }, body: { user_id: userId, role = 'member' } }) => {
      const member = await addMember(dependencies, { principal, requestId, teamId: id, userId, role });
      return { body: { member: memberView(member) } };
    },

    updateTeamMember: async ({ principal, requestId, params: { id, userId }, body: { role } }) => {
      const member = await updateMember(dependencies, { principal, requestId, teamId: id, userId, role });
      return { body: { member: memberView(member) } };
    },

    removeTeamMember: async ({ principal, requestId, params: { id, userId } }) => {
      await removeMember(dependencies, { principal, requestId, teamId: id, userId });
      return {};
    },

    listTeamMemberships: async ({ principal: { workspace, user_id: caller }, query }) => {
      const { limit = DEFAULT_LIMIT, cursor, user_id: users = [caller] } = query;
      const userIds = [...new Set(users)].sort((one, other) => one - other);
      const scope = { workspaceId: workspace.id, path: contracts.listTeamMemberships.path, filters: { userIds } };
      const after = cursor === undefined ? undefined : membershipPositions.decode(cursor, scope);
      await userReplica.refresh(workspace);
      const { rows, pagination } = await buildPage({
        listed: await membershipsOf(database, {
          ...{ workspaceId: workspace.id, userIds, limit: limit + 1 },
          after: after && { userId: after[0], teamId: after[1] },
        }),
        limit,
        view: membershipView,
        nextCursor: ({ userId, teamId }) => membershipPositions.encode([userId, teamId], scope),
      });
      return { body: { memberships: rows, pagination } };
    },
  };
}
