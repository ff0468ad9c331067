import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import { keyStore } from '../store/key-store.ts';
import { visibleOwner } from '../usecases/get-visible-key.ts';
import type { KeyUses } from '../usecases/key-uses.ts';
import { revokeKey } from '../usecases/revoke-key.ts';
import { type Dependencies, runCommand } from '../usecases/run-command.ts';
import { contracts, type GatewayApi } from './contracts.ts';
import { sessionView } from './views.ts';

const { path } = contracts.listSessions;

export function sessionHandlers({
  dependencies,
  uses,
  cursors,
}: {
  dependencies: Dependencies;
  uses: Pick<KeyUses, 'find'>;
  cursors: Cursors;
}): Pick<GatewayApi, 'listSessions' | 'revokeSession'> {
  const { database, clock } = dependencies;
  const positions = cursorsOf(cursors, { name: 'owner', keys: ['text', 'integer'] });
  return {
    listSessions: async ({ principal, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      const workspaceId = principal.workspace.id;
      const userId = visibleOwner(principal);
      const scope = { workspaceId, path, filters: { userId } };
      const after = cursor === undefined ? undefined : positions.decode(cursor, scope);
      const { rows, pagination } = await buildPage({
        listed: await keyStore(database).page({
          ...{ workspaceId, userId, sessionsAt: clock.now() },
          after: after && { sortKey: after[0], id: after[1] },
          limit: limit + 1,
        }),
        limit,
        view: (session) => sessionView(session, uses.find(session.id), principal),
        nextCursor: ({ sortKey, id }) => positions.encode([sortKey, id], scope),
      });
      return { body: { sessions: rows, pagination } };
    },

    revokeSession: async (request) => {
      const { principal, params } = request;
      const input = { workspaceId: principal.workspace.id, id: params.id, kind: 'session' } as const;
      const session = await runCommand(dependencies, request, async (trx, context) => revokeKey(trx, input, context));
      return { body: { session: sessionView(session, uses.find(session.id), principal) } };
    },
  };
}
