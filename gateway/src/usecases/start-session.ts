import { SCOPES } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { MAX_SESSIONS_PER_USER, SESSION_LIFETIME, SESSION_RECORD_TIME } from '../domain/session.ts';
import { digestOf, generateToken, shownPart } from '../domain/token.ts';
import { announceIdentityChange } from '../store/identity-changes.ts';
import { keyStore } from '../store/key-store.ts';
import type { Workspace } from '../store/workspace-store.ts';
import { recordKeyChange } from './record-change.ts';

/** The browser that signs in. */
export interface SigningIn {
  /** A name for people. */
  browser: string;
  requestId: string;
}

/**
 * Begins a session of an active user of a workspace whose row is locked (contract: Sessions).
 * @returns the token of the session
 */
export async function startSession(
  trx: Knex.Transaction,
  { workspace, userId, browser, requestId }: SigningIn & { workspace: Workspace; userId: number },
  now: Instant,
): Promise<{ token: string }> {
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
}
