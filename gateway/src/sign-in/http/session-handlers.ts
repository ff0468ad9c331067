import type { Cursors } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { ApiKey } from '../../accounts/store/key-store.ts';
import type { KeyUses } from '../../accounts/key-uses.ts';
import { revokeKey } from '../../accounts/keys.ts';
import { type Dependencies, runCommand } from '../../accounts/run-command.ts';
import { createUserLoginLink } from '../login-links.ts';
import { SIGN_IN_PAGE } from './session-requests.ts';
import { type SessionApi, sessionContracts, type SessionWire } from './contracts.ts';
import { laterUse } from '../../accounts/http/views.ts';
import { keyPages } from '../../accounts/http/visible-keys.ts';

export function sessionHandlers({
  dependencies,
  uses,
  cursors,
}: {
  dependencies: Dependencies;
  uses: Pick<KeyUses, 'find'>;
  cursors: Cursors;
}): SessionApi {
  const { database, clock } = dependencies;
  const page = keyPages({ database, cursors, path: sessionContracts.listSessions.path });
  return {
    listSessions: async (request) => {
      const view = (session: ApiKey) => sessionView(session, uses.find(session.id), request.principal);
      const { rows, pagination } = await page(request, { view, sessionsAt: clock.now() });
      return { body: { sessions: rows, pagination } };
    },

    createUserLoginLink: async (request) => {
      const { token, expiresAt } = await runCommand(dependencies, request, [createUserLoginLink, request.params]);
      return { body: { login_link: { path: `${SIGN_IN_PAGE}#${token}`, expires_at: expiresAt } } };
    },

    revokeSession: async (request) => {
      const input = { ...request.params, kind: 'session' } as const;
      const session = await runCommand(dependencies, request, [revokeKey, input]);
      return { body: { session: sessionView(session, uses.find(session.id), request.principal) } };
    },
  };
}

/** @param lastUse of the session, if it is not stored yet */
const sessionView = (
  session: ApiKey,
  lastUse: Instant | undefined,
  { key_id: ownId }: { key_id: number },
): SessionWire => ({
  id: session.id,
  user_id: session.userId,
  kind: session.kind === 'agent' ? 'agent' : 'browser',
  name: session.name,
  scopes: session.scopes,
  current: session.id === ownId,
  created_at: session.createdAt,
  last_used_at: laterUse(session.lastUsedAt, lastUse),
  expires_at: session.expiresAt,
  revoked_at: session.revokedAt,
});
