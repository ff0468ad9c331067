import { buildPage, COST_HEADER, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import { type User, userStore } from '../store/user-store.ts';
import { listUsers } from '../list-users.ts';
import { existing } from '../lookups.ts';
import { type Dependencies, runCommand, runCreate } from '../run-command.ts';
import { createUser, setUser } from '../users.ts';
import { type AccountApi, accountContracts } from './contracts.ts';
import { userView } from './views.ts';

const { path } = accountContracts.listUsers;
const reply = (user: User) => ({ body: { user: userView(user) }, revision: user.revision });

export function userHandlers({
  dependencies,
  cursors,
}: {
  dependencies: Dependencies;
  cursors: Cursors;
}): Pick<AccountApi, 'listUsers' | 'createUser' | 'getUser' | 'updateUser' | 'getUserName'> {
  const { database } = dependencies;
  const getUser = async (workspaceId: number, id: number) =>
    existing(userStore(database).find(workspaceId, id), 'The user');
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

    createUser: async (request) => {
      const outcome = (user: User) => ({
        status: 201,
        text: JSON.stringify(reply(user).body),
        revision: user.revision,
      });
      return runCreate(dependencies, request, [createUser, request.body, outcome]);
    },

    getUser: async ({ principal: { workspace }, params: { id } }) => reply(await getUser(workspace.id, id)),

    updateUser: async (request) => {
      const { params, expectedRevision, body: changes } = request;
      return reply(await runCommand(dependencies, request, [setUser, { ...params, changes, expectedRevision }]));
    },

    getUserName: async ({ principal: { workspace }, params }) => {
      const { id, name, active } = await getUser(workspace.id, params.id);
      return { body: { user: { id, name, active } } };
    },
  };
}
