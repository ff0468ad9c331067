import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { revokeKey } from '../accounts/keys.ts';
import { type ApiKey, keyStore } from '../accounts/store/key-store.ts';
import { digestOf } from '../identity/domain/token.ts';
import { isClientId } from './domain/agents.ts';
import { type OAuthClient, oauthClientStore, oauthTokenStore } from './store/oauth-store.ts';

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1_000);
const secondsOf = (time: string | null) => seconds(Date.parse(time ?? ''));

/** How the library stores what it has: clients, agents (its grants), codes and tokens of one workspace, and nothing else. */
export function adapterOf(
  name: string,
  options: {
    workspaceId: number;
    database: Knex;
    clock: Clock;
    onChange: () => void;
    errors: typeof import('oidc-provider').errors;
    resource: string;
    /** The ID of the user who is signed in. */
    session: () => number | undefined;
  },
): Adapter {
  const { workspaceId, database, clock, errors, resource, session, onChange } = options;
  const tokens = oauthTokenStore(database, workspaceId);

  const findAgent = async (id: string): Promise<ApiKey | undefined> => {
    const agent = await keyStore(database).find(workspaceId, Number(id));
    const isValid = agent?.kind === 'agent' && agent.revokedAt === null && agent.ownerActive;
    return isValid ? agent : undefined;
  };
  const endAgent = async (id: string): Promise<void> => {
    const agent = await findAgent(id);
    if (agent === undefined) return;
    const actor = { type: 'user', userId: agent.userId, keyId: agent.id, scopes: [] } as const;
    const context = { actor, requestId: null, now: clock.now() };
    const input = { workspaceId, id: agent.id, kind: 'session' } as const;
    await database
      .transaction(async (trx) => revokeKey(trx, input, context))
      .catch((error: unknown) => {
        // It has just ended by itself.
        if (!(error instanceof DomainError)) throw error;
      });
    onChange();
  };

  const finders = new Map<string, Adapter['find']>([
    [
      'Client',
      async (id) =>
        isClientId(id) ? metadataOf(await oauthClientStore(database, workspaceId).find(id, clock.now())) : undefined,
    ],
    ['Grant', async (id) => grantOf(await findAgent(id), resource)],
    ['Session', async (id) => sessionOf(id, session())],
  ]);
  const findToken = async (id: string): Promise<AdapterPayload | undefined> => {
    const token = await tokens.find(name, digestOf(id));
    const consumed = token?.consumedAt ?? null;
    return token && { ...token.payload, jti: id, ...(consumed !== null && { consumed: secondsOf(consumed) }) };
  };
  const isToken = ['AuthorizationCode', 'AccessToken', 'RefreshToken'].includes(name);

  return {
    find: finders.get(name) ?? findToken,
    upsert: async (id, { jti: _jti, ...payload }) => {
      if (!isToken) return;
      const expiresAt = new Date((payload.exp ?? 0) * 1_000).toISOString();
      await tokens.insert(name, { digest: digestOf(id), keyId: Number(payload.grantId), payload, expiresAt });
    },
    consume: async (id) => {
      const digest = digestOf(id);
      if (await tokens.consume(digest, clock.now())) return;
      // Somebody else has used it at the same moment.
      await endAgent(String((await tokens.find(name, digest))?.keyId));
      throw new errors.InvalidGrant('already used');
    },
    destroy: async (id) => {
      if (name === 'Grant') await endAgent(id);
    },
    // They end with the agent.
    revokeByGrantId: async () => undefined,
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  };
}

const metadataOf = (client: OAuthClient | undefined): AdapterPayload | undefined =>
  client && {
    client_id: client.id,
    client_name: client.name,
    redirect_uris: client.redirectUris,
    // Its loopback addresses may have any port (RFC 8252).
    application_type: 'native',
  };

const grantOf = (agent: ApiKey | undefined, resource: string): AdapterPayload | undefined =>
  agent && {
    ...{ kind: 'Grant', jti: String(agent.id), accountId: String(agent.userId), clientId: agent.clientId ?? '' },
    ...{ iat: secondsOf(agent.createdAt), exp: secondsOf(agent.expiresAt) },
    resources: { [resource]: agent.scopes.join(' ') },
  };

/** That of the console, for the one request. */
function sessionOf(id: string, userId: number | undefined): AdapterPayload | undefined {
  if (userId === undefined) return undefined;
  const now = seconds(Date.now());
  return { kind: 'Session', jti: id, uid: id, accountId: String(userId), loginTs: now, iat: now, exp: now + 60 };
}
