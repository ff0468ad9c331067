import { type Cursors, DEFAULT_LIMIT, pageQuery, paginate, pathId, route } from '@tocsin/http';
import { z } from 'zod';
import { sortName } from '../domain/sort-name.ts';
import { memberStore } from '../store/member-store.ts';
import { teamStore } from '../store/team-store.ts';
import { addMember } from '../usecases/add-member.ts';
import type { Tools } from '../usecases/context.ts';
import { removeMember } from '../usecases/remove-member.ts';
import { updateMember } from '../usecases/update-member.ts';
import { memberView } from './views.ts';
import { memberPage, memberPatch, memberReply, newMember } from './wire.ts';

const tag = 'Teams';
const path = '/api/v1/teams/{id}/members';
const ofTeam = z.strictObject({ id: pathId });
const ofMember = z.strictObject({ id: pathId, userId: pathId });
const write = { tag, scope: 'teams:write', needs: ['active_responder', 'manage_teams'] } as const;

export function memberRoutes({ tools, cursors }: { tools: Tools; cursors: Cursors }) {
  const { database, replicas } = tools;
  return [
    route({
      id: 'listTeamMembers',
      method: 'get',
      path,
      summary: "A team's members who are active users, by name",
      tag,
      scope: 'teams:read',
      params: ofTeam,
      query: z.strictObject(pageQuery),
      reply: { status: 200, body: memberPage },
      handle: async ({ principal: { workspace }, params: { id }, query }) => {
        const { limit = DEFAULT_LIMIT, cursor } = query;
        const scope = { workspaceId: workspace.id, path: path.replace('{id}', String(id)) };
        const after = cursor === undefined ? undefined : (cursors.decode(cursor, scope) as [string, number]);
        await replicas.refresh(workspace);
        const team = await teamStore(database, workspace.id).get(id);
        const { page, pagination } = paginate({
          rows: await memberStore(database, team.id).list({
            limit: limit + 1,
            after: after && { sortName: after[0], userId: after[1] },
          }),
          limit,
          nextCursor: ({ name, userId }) => cursors.encode([sortName(name), userId], scope),
        });
        return { body: { members: page.map(memberView), pagination } };
      },
    }),
    route({
      ...write,
      id: 'addTeamMember',
      method: 'post',
      path,
      summary: 'Make an active user a member of an active team',
      params: ofTeam,
      body: newMember,
      reply: { status: 201, body: memberReply },
      handle: async ({ principal, requestId, params: { id }, body: { user_id: userId, role = 'member' } }) => {
        const member = await addMember(tools, { principal, requestId, teamId: id, userId, role });
        return { body: { member: memberView(member) } };
      },
    }),
    route({
      ...write,
      id: 'updateTeamMember',
      method: 'patch',
      path: `${path}/{userId}`,
      summary: "Change a member's role",
      params: ofMember,
      body: memberPatch,
      reply: { status: 200, body: memberReply },
      handle: async ({ principal, requestId, params: { id, userId }, body: { role } }) => {
        const member = await updateMember(tools, { principal, requestId, teamId: id, userId, role });
        return { body: { member: memberView(member) } };
      },
    }),
    route({
      ...write,
      id: 'removeTeamMember',
      method: 'delete',
      path: `${path}/{userId}`,
      summary: 'End a membership; safe to repeat',
      params: ofMember,
      reply: { status: 204 },
      handle: async ({ principal, requestId, params: { id, userId } }) => {
        await removeMember(tools, { principal, requestId, teamId: id, userId });
        return {};
      },
    }),
  ];
}
