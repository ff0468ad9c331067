import { SCOPES } from '@tocsin/contracts';
import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { MAX_SESSIONS_PER_USER, SESSION_LIFETIME, SESSION_RECORD_TIME } from '../domain/session.ts';
import { digestOf, generateToken, isToken, shownPart } from '../domain/token.ts';
import { announceIdentityChange } from '../store/identity-changes.ts';
import { keyStore } from '../store/key-store.ts';
import { loginLinkStore } from '../store/login-link-store.ts';
import { userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { recordKeyChange } from './record-change.ts';

export interface SignIn {
  /** The token of the link. */
  link: string;
  /** The workspace that the host names. */
  slug: string | undefined;
  /** For people. */
  browser: string;
  requestId: string;
}

/**
 * Uses up a link and begins a session of its user (contract: Sessions).
 * @returns the token of the session
 * @throws DomainError `authentication_required` for a link that is unknown, used, too old, or of another workspace
 */
export async function signIn(
  database: Knex,
  { link, slug, browser, requestId }: SignIn,
  now: Instant,
): Promise<{ token: string }> {
  if (!isToken(link, 'login_link')) throw invalidLink();
  return database.transaction(async (trx) => {
    const used = await loginLinkStore(trx).use(digestOf(link), now);
    if (used === undefined) throw invalidLink();
    const { userId, workspaceId } = used;
    const workspace = await workspaceStore(trx).lock(workspaceId);
    const user = await userStore(trx).find(workspaceId, userId);
    // Throwing undoes the use: the link still works at its own host.
    if (workspace.slug !== slug || user?.active !== true) throw invalidLink();
    const store = keyStore(trx);
    await store.deleteSessionsBefore(userId, addMilliseconds(now, -SESSION_RECORD_TIME));
    const ended = await store.revokeSessions(userId, { keep: MAX_SESSIONS_PER_USER - 1, now });
    const token = generateToken('session');
    const session = await store.insert({
      ...{ kind: 'session', userId, name: browser, scopes: [...SCOPES], createdAt: now },
      expiresAt: addMilliseconds(now, SESSION_LIFETIME),
      shown: shownPart(token),
      digest: digestOf(token),
    });
    const actor = { type: 'user', userId, keyId: session.id, scopes: SCOPES } as const;
    const context = { actor, requestId, now };
    for (const after of ended) {
      await recordKeyChange(trx, context, { workspace, verb: 'revoked', before: { ...after, revokedAt: null }, after });
    }
    await recordKeyChange(trx, context, { workspace, verb: 'created', before: null, after: session });
    if (ended.length > 0) await announceIdentityChange(trx);
    return { token };
  });
}

const invalidLink = () =>
  new DomainError(
    'authentication_required',
    'The link was used, is older than ten minutes, or is of another workspace',
  );
