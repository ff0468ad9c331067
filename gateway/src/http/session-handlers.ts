import type { Cursors } from '@tocsin/http';
import type { ApiKey } from '../store/key-store.ts';
import type { KeyUses } from '../usecases/key-uses.ts';
import { revokeKey } from '../usecases/revoke-key.ts';
import { type Dependencies, runCommand } from '../usecases/run-command.ts';
import { contracts, type GatewayApi } from './contracts.ts';
import { keyPages } from './key-pages.ts';
import { sessionView } from './views.ts';

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
  const page = keyPages({ database, cursors, path: contracts.listSessions.path });
  return {
    listSessions: async (request) => {
      const view = (session: ApiKey) => sessionView(session, uses.find(session.id), request.principal);
      const { rows, pagination } = await page(request, { view, sessionsAt: clock.now() });
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
