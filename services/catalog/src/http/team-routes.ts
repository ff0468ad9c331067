import { type Cursors, DEFAULT_LIMIT, idempotently, pageQuery, paginate, pathId, route } from '@tocsin/http';
import { z } from 'zod';
import { sortName } from '../domain/sort-name.ts';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import { archiveTeam } from '../usecases/archive-team.ts';
import type { Tools } from '../usecases/context.ts';
import { createTeam } from '../usecases/create-team.ts';
import { restoreTeam } from '../usecases/restore-team.ts';
import { updateTeam } from '../usecases/update-team.ts';
import { teamView } from './views.ts';
import { newTeam, teamPage, teamPatch, teamReply } from './wire.ts';

const tag = 'Teams';
const path = '/api/v1/teams';
const params = z.strictObject({ id: pathId });
const read = { tag, scope: 'teams:read' } as const;
const write = { tag, scope: 'teams:write', needs: ['active_responder', 'manage_teams'] } as const;
const one = { status: 200, body: teamReply, versioned: true } as const;

const answer = (team: Team) => ({ body: { team: teamView(team) }, revision: team.revision });

export function teamRoutes({ tools, cursors }: { tools: Tools; cursors: Cursors }) {
  const { database, replicas } = tools;
  return [
    route({
      ...read,
      id: 'listTeams',
      method: 'get',
      path,
      summary: 'Teams by name',
      query: z.strictObject({ ...pageQuery, include_archived: z.boolean().optional() }),
      reply: { status: 200, body: teamPage },
      handle: async ({ principal: { workspace }, query }) => {
        const { limit = DEFAULT_LIMIT, cursor, include_archived: includeArchived = false } = query;
        const scope = { workspaceId: workspace.id, path, filters: { includeArchived } };
        const after = cursor === undefined ? undefined : (cursors.decode(cursor, scope) as [string, number]);
        await replicas.refresh(workspace);
        const { page, pagination } = paginate({
          rows: await teamStore(database, workspace.id).list({
            limit: limit + 1,
            includeArchived,
            after: after && { sortName: after[0], id: after[1] },
          }),
          limit,
          nextCursor: ({ name, id }) => cursors.encode([sortName(name), id], scope),
        });
        return { body: { teams: page.map(teamView), pagination } };
      },
    }),
    route({
      ...write,
      id: 'createTeam',
      method: 'post',
      path,
      summary: 'Add a team',
      idempotent: true,
      body: newTeam,
      reply: { ...one, status: 201 },
      handle: async (request) =>
        idempotently(database, request, async (claim) => ({
          status: 201,
          revision: 1,
          text: await createTeam(tools, {
            principal: request.principal,
            requestId: request.requestId,
            body: request.body,
            claim,
            render: (team) => JSON.stringify(answer(team).body),
          }),
        })),
    }),
    route({
      ...read,
      id: 'getTeam',
      method: 'get',
      path: `${path}/{id}`,
      summary: 'One team, archived or not',
      params,
      reply: one,
      handle: async ({ principal: { workspace }, params: { id } }) => {
        await replicas.refresh(workspace);
        return answer(await teamStore(database, workspace.id).get(id));
      },
    }),
    route({
      ...write,
      id: 'updateTeam',
      method: 'patch',
      path: `${path}/{id}`,
      summary: 'Change some properties of an active team',
      params,
      precondition: true,
      body: teamPatch,
      reply: one,
      handle: async ({ principal, requestId, params: { id }, expectedRevision, body }) =>
        answer(await updateTeam(tools, { principal, requestId, id, expectedRevision, body })),
    }),
    route({
      ...write,
      id: 'archiveTeam',
      method: 'delete',
      path: `${path}/{id}`,
      summary: 'Archive a team; it stays readable, and its slug taken',
      params,
      reply: one,
      handle: async ({ principal, requestId, params: { id } }) =>
        answer(await archiveTeam(tools, { principal, requestId, id })),
    }),
    route({
      ...write,
      id: 'restoreTeam',
      method: 'post',
      path: `${path}/{id}/restore`,
      summary: 'Restore an archived team whose parent, if it has one, is active',
      params,
      reply: one,
      handle: async ({ principal, requestId, params: { id } }) =>
        answer(await restoreTeam(tools, { principal, requestId, id })),
    }),
  ];
}
