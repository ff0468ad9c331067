import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { EVERYTHING, type Grant, isWithin } from '../identity/domain/authority.ts';
import { MAX_SESSIONS_OF_ORIGIN, SESSION_LIFETIME, SESSION_RECORD_TIME } from '../identity/domain/session.ts';
import { announceIdentityChange } from '../identity/store/identity-changes.ts';
import { sessionStore } from '../accounts/store/key-store.ts';
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
  /** The key whose token begins it; default: a person signs in. */
  begunBy?: number | undefined;
  /** The most that it may do, and until when. */
  grant?: Grant;
}

/**
 * Begins a session of an active user of a workspace whose row is locked (contract: Sessions).
 * @returns the token of the session, and the context of what else the user changes by signing in
 */
export async function startSession(
  trx: Knex.Transaction,
  { workspace, userId, browser, requestId, begunBy, grant = EVERYTHING }: SigningIn & NewSession,
  now: Instant,
): Promise<{ token: string; context: CommandContext }> {
  const sessions = sessionStore(trx);
  const owner = { workspaceId: workspace.id, userId };
  const origin = begunBy ?? null;
  const latest = addMilliseconds(now, SESSION_LIFETIME);
  await sessions.deleteSessionsBefore(owner, addMilliseconds(now, -SESSION_RECORD_TIME));
  const ended = await sessions.revokeSessions(owner, {
    only: { kind: 'session', begunBy: origin },
    keep: MAX_SESSIONS_OF_ORIGIN - 1,
    now,
  });
  const { key: session, token } = await insertKey(trx, {
    ...{ ...owner, kind: 'session', name: browser, scopes: [...grant.scopes], createdAt: now },
    begunBy: origin,
    expiresAt: isWithin(latest, grant.expiresAt) ? latest : grant.expiresAt,
  });
  const actor = { type: 'user', userId, keyId: session.id, scopes: session.scopes } as const;
  const context = { actor, requestId, now };
  await recordEndedSessions(trx, context, workspace, ended);
  await recordKeyChange(trx, context, { workspace, verb: 'created', before: null, after: session });
  if (ended.length > 0) await announceIdentityChange(trx);
  return { token, context };
}
