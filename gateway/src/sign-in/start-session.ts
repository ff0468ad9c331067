import { type Scope, SCOPES } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { MAX_SESSIONS_PER_USER, SESSION_LIFETIME, SESSION_RECORD_TIME } from '../identity/domain/session.ts';
import { announceIdentityChange } from '../identity/store/identity-changes.ts';
import { keyStore } from '../accounts/store/key-store.ts';
import type { Workspace } from '../accounts/store/workspace-store.ts';
import type { CommandContext } from '../accounts/actor.ts';
import { insertKey } from '../accounts/keys.ts';
import { recordEndedSessions, recordKeyChange } from '../accounts/record-change.ts';

/** The browser that signs in. */
export interface SigningIn {
  /** A name for people. */
  browser: string;
  requestId: string;
}

interface NewSession {
  workspace: Workspace;
  userId: number;
  /** Default: every scope. */
  grant?: Grant | undefined;
}

/** What a session may do at most that the token of a key begins, and until when; null: as long as any session. */
export interface Grant {
  keyId: number;
  scopes: readonly Scope[];
  expiresAt: Instant | null;
}

/**
 * Begins a session of an active user of a workspace whose row is locked (contract: Sessions).
 * @returns the token of the session, and the context of what else the user changes by signing in
 */
export async function startSession(
  trx: Knex.Transaction,
  { workspace, userId, browser, requestId, grant }: SigningIn & NewSession,
  now: Instant,
): Promise<{ token: string; context: CommandContext }> {
  const store = keyStore(trx);
  const scopes = grant?.scopes ?? SCOPES;
  const latest = addMilliseconds(now, SESSION_LIFETIME);
  await store.deleteSessionsBefore(userId, addMilliseconds(now, -SESSION_RECORD_TIME));
  const ended = await store.revokeSessions(userId, { keep: MAX_SESSIONS_PER_USER - 1, now });
  const { key: session, token } = await insertKey(trx, {
    ...{ kind: 'session', userId, name: browser, scopes: [...scopes], createdAt: now },
    begunBy: grant?.keyId ?? null,
    expiresAt: grant?.expiresAt != null && grant.expiresAt < latest ? grant.expiresAt : latest,
  });
  const actor = { type: 'user', userId, keyId: session.id, scopes } as const;
  const context = { actor, requestId, now };
  await recordEndedSessions(trx, context, workspace, ended);
  await recordKeyChange(trx, context, { workspace, verb: 'created', before: null, after: session });
  if (ended.length > 0) await announceIdentityChange(trx);
  return { token, context };
}
