import type { Principal } from '@tocsin/schemas';
import { buildPage, COST_HEADER, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import { type User, userStore } from '../store/user-store.ts';
import type { KeyUses } from '../key-uses.ts';
import { listUsers } from '../list-users.ts';
import { existing } from '../lookups.ts';
import { type Dependencies, runCommand, runCreate } from '../run-command.ts';
import { createUser, setUser } from '../users.ts';
import { type AccountApi, accountContracts } from './contracts.ts';
import { userView } from './views.ts';

const { path } = accountContracts.listUsers;

export function userHandlers({
  dependencies,
  uses,
  cursors,
}: {
  dependencies: Dependencies;
  uses: Pick<KeyUses, 'findUser'>;
  cursors: Cursors;
}): Pick<AccountApi, 'listUsers' | 'createUser' | 'getUser' | 'updateUser' | 'getUserName'> {
  const { database } = dependencies;
  const getUser = async (workspaceId: number, id: number) =>
    existing(userStore(database).find(workspaceId, id), 'The user');
  /** Colleagues do not watch each other: only whoever manages users learns when somebody was there. */
  const viewFor = ({ permissions }: Pick<Principal, 'permissions'>) => {
    const isShown = permissions.includes('manage_settings');
    return (user: User) => userView(user, isShown ? uses.findUser(user.id) : null);
  };
  const reply = (user: User, principal: Principal) => ({
    body: { user: viewFor(principal)(user) },
    revision: user.revision,
  });
  const positions = cursorsOf(cursors, { name: 'email', keys: ['text'] });
  return {
    listUsers: async ({ principal, query: { limit = DEFAULT_LIMIT, cursor, q: text, ...filter } }) => {
      const { workspace } = principal;
      const scope = { workspaceId: workspace.id, path, filters: { ...filter, text } };
      const [after] = cursor === undefined ? [] : positions.decode(cursor, scope);
      const { users, continueAfter, cost } = await listUsers(database, {
        ...{ workspaceId: workspace.id, filter, text, after },
        limit: limit + 1,
      });
      const { rows, pagination } = await buildPage({
        listed: users,
        limit,
        view: viewFor(principal),
        nextCursor: ({ sortKey }) => positions.encode([sortKey], scope),
        continueAt: continueAfter && positions.encode([continueAfter], scope),
      });
      return { body: { users: rows, pagination }, ...(cost > 0 && { headers: { [COST_HEADER]: String(cost) } }) };
    },

    createUser: async (request) => {
      const outcome = (user: User) => ({
        status: 201,
        text: JSON.stringify(reply(user, request.principal).body),
        revision: user.revision,
      });
      return runCreate(dependencies, request, [createUser, request.body, outcome]);
    },

    getUser: async ({ principal, params: { id } }) => reply(await getUser(principal.workspace.id, id), principal),

    updateUser: async (request) => {
      const { principal, params, expectedRevision, body: changes } = request;
      const user = await runCommand(dependencies, request, [setUser, { ...params, changes, expectedRevision }]);
      return reply(user, principal);
    },

    getUserName: async ({ principal: { workspace }, params }) => {
      const { id, name, active } = await getUser(workspace.id, params.id);
      return { body: { user: { id, name, active } } };
    },
  };
}
