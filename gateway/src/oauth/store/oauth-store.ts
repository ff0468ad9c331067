import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { MAX_TOKENS_OF_AGENT, MAX_UNUSED_CLIENTS } from '../domain/agents.ts';

/** A program that has registered itself with a workspace. */
export interface OAuthClient {
  id: string;
  name: string;
  redirectUris: string[];
}

/** The clients of a workspace. */
export const oauthClientStore = (db: Knex, workspaceId: number) => ({
  find: async (id: string, now: Instant): Promise<OAuthClient | undefined> => {
    const [client] = await query<OAuthClient>(db, {
      text: `select id, name, redirect_uris as "redirectUris" from oauth_clients
        where workspace_id = $1 and id = $2 and expires_at > $3`,
      values: [workspaceId, id, now],
    });
    return client;
  },

  /** Inserts a client, and deletes the oldest of those that nobody has allowed anything. */
  insert: async ({ id, name, redirectUris }: OAuthClient, times: { now: Instant; expiresAt: Instant }) => {
    await query(db, {
      text: `with deleted as (
          delete from oauth_clients where workspace_id = $1 and not is_connected and id = any(array(
            select id from oauth_clients where workspace_id = $1 and not is_connected
            order by created_at desc offset ${MAX_UNUSED_CLIENTS - 1})))
        insert into oauth_clients (workspace_id, id, name, redirect_uris, created_at, expires_at)
        values ($1, $2, $3, $4, $5, $6)`,
      values: [workspaceId, id, name, redirectUris, times.now, times.expiresAt],
    });
  },

  /** A client that somebody has allowed something stays as long as that. */
  connect: async (id: string, expiresAt: Instant): Promise<void> => {
    await query(db, {
      text: `update oauth_clients set is_connected = true, expires_at = greatest(expires_at, $3)
        where workspace_id = $1 and id = $2`,
      values: [workspaceId, id, expiresAt],
    });
  },
});

/** A code or token, without itself. */
interface OAuthToken {
  keyId: number;
  payload: Record<string, unknown>;
  consumedAt: Instant | null;
}

/** The codes and tokens of a workspace, by their kind and the SHA-256 of their text. */
export const oauthTokenStore = (db: Knex, workspaceId: number) => ({
  find: async (kind: string, digest: string): Promise<OAuthToken | undefined> => {
    const [token] = await query<OAuthToken>(db, {
      text: `select key_id as "keyId", payload, consumed_at as "consumedAt" from oauth_tokens
        where workspace_id = $1 and digest = $2 and kind = $3`,
      values: [workspaceId, Buffer.from(digest, 'hex'), kind],
    });
    return token;
  },

  insert: async (
    kind: string,
    { digest, keyId, payload, expiresAt }: Omit<OAuthToken, 'consumedAt'> & { digest: string; expiresAt: Instant },
  ): Promise<void> => {
    await query(db, {
      text: `with deleted as (
          delete from oauth_tokens where workspace_id = $1 and digest = any(array(
            select digest from oauth_tokens where workspace_id = $1 and key_id = $4
            order by expires_at desc offset ${MAX_TOKENS_OF_AGENT - 1})))
        insert into oauth_tokens (workspace_id, digest, kind, key_id, payload, expires_at) values ($1, $2, $3, $4, $5, $6)`,
      values: [workspaceId, Buffer.from(digest, 'hex'), kind, keyId, JSON.stringify(payload), expiresAt],
    });
  },

  /** Marks a code or refresh token as used. Returns whether this is its first use. */
  consume: async (digest: string, now: Instant): Promise<boolean> =>
    (
      await query(db, {
        text: `update oauth_tokens set consumed_at = $3 where workspace_id = $1 and digest = $2 and consumed_at is null
          returning key_id`,
        values: [workspaceId, Buffer.from(digest, 'hex'), now],
      })
    ).length > 0,
});

const EXPIRED_BATCH = 1_000;

/** Deletes a batch of expired rows of all workspaces. Returns whether there may be more. */
export async function deleteExpiredOAuth(db: Knex, now: Instant): Promise<boolean> {
  let hasMore = false;
  for (const [table, key] of [['oauth_tokens', 'digest'] as const, ['oauth_clients', 'id'] as const]) {
    const deleted = await query(db, {
      text: `delete from ${table} where (workspace_id, ${key}) in (
          select workspace_id, ${key} from ${table} where expires_at <= $1 order by expires_at limit ${EXPIRED_BATCH})
        returning workspace_id`,
      values: [now],
    });
    hasMore ||= deleted.length === EXPIRED_BATCH;
  }
  return hasMore;
}
