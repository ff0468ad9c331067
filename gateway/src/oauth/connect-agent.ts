import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds } from '@tocsin/runtime';
import { type CommandContext, findActingUser } from '../accounts/actor.ts';
import { findGrant } from '../accounts/grants.ts';
import { insertKey } from '../accounts/keys.ts';
import { existing } from '../accounts/lookups.ts';
import { recordEndedSessions, recordKeyChange } from '../accounts/record-change.ts';
import { type ApiKey, keyStore, sessionStore } from '../accounts/store/key-store.ts';
import { workspaceStore } from '../accounts/store/workspace-store.ts';
import { isWithin } from '../identity/domain/authority.ts';
import { announceIdentityChange } from '../identity/store/identity-changes.ts';
import { AGENT_LIFETIME, MAX_AGENTS_OF_USER } from './domain/agents.ts';
import { type OAuthClient, oauthClientStore } from './store/oauth-store.ts';

export interface NewAgent {
  workspaceId: number;
  client: Pick<OAuthClient, 'id' | 'name'>;
  /** What it asks for. */
  scopes: readonly string[];
}

/**
 * Lets a client act for the signed-in user: a key of the kind `agent`, whose own token nobody has. It gets those of the
 * scopes that the session has, and ends no later than the session may pass on (ADR 73).
 * @throws DomainError `permission_denied` if the session has ended, `missing_scope` if it has none of the scopes
 */
export async function connectAgent(
  trx: Knex.Transaction,
  { workspaceId, client, scopes: requested }: NewAgent,
  context: CommandContext & { actor: { type: 'user' } },
): Promise<ApiKey> {
  const { actor, now } = context;
  const workspace = await workspaceStore(trx).lock(workspaceId);
  const user = await existing(findActingUser(trx, { workspaceId, actor }), 'The user');
  const session = await existing(keyStore(trx).find(workspaceId, actor.keyId), 'The session');
  const most = await findGrant(trx, { context, acting: user, owner: user });
  const scopes = most.scopes.filter((scope) => requested.includes(scope));
  if (scopes.length === 0) throw new DomainError('missing_scope', 'The session has none of these scopes');
  const latest = addMilliseconds(now, AGENT_LIFETIME);
  const expiresAt = isWithin(latest, most.expiresAt) ? latest : (most.expiresAt as string);
  const owner = { workspaceId, userId: user.id };
  const { begunBy } = session;
  const ended = await sessionStore(trx).revokeSessions(owner, {
    only: { kind: 'agent', begunBy },
    keep: MAX_AGENTS_OF_USER - 1,
    now,
  });
  const { key: agent } = await insertKey(trx, {
    ...{ ...owner, kind: 'agent', name: client.name, clientId: client.id, scopes, begunBy },
    ...{ expiresAt, createdAt: now },
  });
  await oauthClientStore(trx, workspaceId).connect(client.id, expiresAt);
  await recordEndedSessions(trx, context, workspace, ended);
  await recordKeyChange(trx, context, { workspace, verb: 'created', before: null, after: agent });
  if (ended.length > 0) await announceIdentityChange(trx);
  return agent;
}
