import type { Instant, Knex } from '@tocsin/runtime';
import type { Scope } from '@tocsin/http';

export interface ApiKey {
  id: number;
  userId: number;
  name: string;
  /** The first characters of its token. */
  shown: string;
  scopes: Scope[];
  expiresAt: Instant | null;
  revokedAt: Instant | null;
  createdAt: Instant;
}

interface Row {
  id: number;
  user_id: number;
  name: string;
  token_shown: string;
  scopes: Scope[];
  expires_at: Instant | null;
  revoked_at: Instant | null;
  created_at: Instant;
}

const COLUMNS = ['id', 'user_id', 'name', 'token_shown', 'scopes', 'expires_at', 'revoked_at', 'created_at'] as const;

export function keyStore(db: Knex) {
  return {
    /** @param key with the token's SHA-256 as `digest`, in hexadecimal */
    insert: async (key: Omit<ApiKey, 'id' | 'revokedAt'> & { digest: string }): Promise<ApiKey> => {
      const [row] = await db('api_keys')
        .insert({
          user_id: key.userId,
          name: key.name,
          token_digest: Buffer.from(key.digest, 'hex'),
          token_shown: key.shown,
          scopes: key.scopes,
          expires_at: key.expiresAt,
          created_at: key.createdAt,
        })
        .returning<Row[]>(COLUMNS);
      return fromRow(row as Row);
    },

    /** Counts the keys of a workspace that are neither revoked nor expired. */
    countValid: async (workspaceId: number, now: Instant): Promise<number> => {
      const [row] = await db('api_keys')
        .join('users', 'users.id', 'api_keys.user_id')
        .where({ 'users.workspace_id': workspaceId })
        .whereNull('api_keys.revoked_at')
        .whereRaw('(api_keys.expires_at is null or api_keys.expires_at > ?)', [now])
        .count<{ count: number }[]>({ count: 'api_keys.id' });
      return row?.count ?? 0;
    },

    /** A key that is already revoked keeps its first time of revocation. */
    revoke: async (id: number, now: Instant): Promise<ApiKey | undefined> => {
      const [row] = await db('api_keys')
        .where({ id })
        .update({ revoked_at: db.raw('coalesce(revoked_at, ?)', [now]) })
        .returning<Row[]>(COLUMNS);
      return row && fromRow(row);
    },
  };
}

const fromRow = (row: Row): ApiKey => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  shown: row.token_shown,
  scopes: row.scopes,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  createdAt: row.created_at,
});
