import { buildPage, COST_HEADER, type Cursors, cursorsOf, DEFAULT_LIMIT, idempotently, notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { type User, userStore } from '../store/user-store.ts';
import { createUser } from '../usecases/create-user.ts';
import { listUsers } from '../usecases/list-users.ts';
import { type Dependencies, runCommand, runCreate } from '../usecases/run-command.ts';
import { setUser } from '../usecases/set-user.ts';
import { contracts, type GatewayApi } from './contracts.ts';
import { userView } from './views.ts';

const { path } = contracts.listUsers;
const reply = (user: User) => ({ body: { user: userView(user) }, revision: user.revision });

/** @throws DomainError `not_found` */
async function getUser(database: Knex, workspaceId: number, id: number): Promise<User> {
  const user = await userStore(database).find(workspaceId, id);
  if (user === undefined) throw notFound('The user');
  return user;
}

export function userHandlers({
  dependencies,
  cursors,
}: {
  dependencies: Dependencies;
  cursors: Cursors;
}): Pick<GatewayApi, 'listUsers' | 'createUser' | 'getUser' | 'updateUser' | 'getUserName'> {
  const { database } = dependencies;
  const positions = cursorsOf(cursors, { name: 'email', keys: ['text'] });
  return {
    listUsers: async ({ principal: { workspace }, query: { limit = DEFAULT_LIMIT, cursor, q: text, ...filter } }) => {
      const scope = { workspaceId: workspace.id, path, filters: { ...filter, text } };
      const [after] = cursor === undefined ? [] : positions.decode(cursor, scope);
      const { users, continueAfter, cost } = await listUsers(database, {
        ...{ workspaceId: workspace.id, filter, text, after },
        limit: limit + 1,
      });
      const { rows, pagination } = await buildPage({
        listed: users,
        limit,
        view: userView,
        nextCursor: ({ sortKey }) => positions.encode([sortKey], scope),
        continueAt: continueAfter && positions.encode([continueAfter], scope),
      });
      return { body: { users: rows, pagination }, ...(cost > 0 && { headers: { [COST_HEADER]: String(cost) } }) };
    },

    createUser: async (request) =>
      idempotently(database, request, async (key) =>
        runCreate(dependencies, { request, key }, async (trx, context) => {
          const { body, revision } = reply(
            await createUser(trx, { workspaceId: request.principal.workspace.id, ...request.body }, context),
          );
          return { status: 201, text: JSON.stringify(body), revision };
        }),
      ),

    getUser: async ({ principal: { workspace }, params: { id } }) => reply(await getUser(database, workspace.id, id)),

    updateUser: async (request) => {
      const { principal, params, expectedRevision, body: changes } = request;
      const input = { workspaceId: principal.workspace.id, id: params.id, changes, expectedRevision };
      return reply(await runCommand(dependencies, request, async (trx, context) => setUser(trx, input, context)));
    },

    getUserName: async ({ principal: { workspace }, params }) => {
      const { id, name, active } = await getUser(database, workspace.id, params.id);
      return { body: { user: { id, name, active } } };
    },
  };
}
