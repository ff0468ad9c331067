import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Scope } from '@tocsin/contracts';

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
  /** The key that a rotation replaced it by. */
  replacedBy: number | null;
}

/** A key with its owner. */
export interface OwnedKey extends ApiKey {
  /** The workspace's slug. */
  workspace: string;
  /** The owner's email address. */
  user: string;
  ownerActive: boolean;
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
  replaced_by: number | null;
}

interface OwnedRow extends Row {
  workspace: string;
  user: string;
  owner_active: boolean;
}

const COLUMNS = [
  'id',
  'user_id',
  'name',
  'token_shown',
  'scopes',
  'expires_at',
  'revoked_at',
  'created_at',
  'replaced_by',
] as const;

export interface KeyFilter {
  /** The workspace's slug. */
  workspace?: string | undefined;
  /** The owner's email address. */
  user?: string | undefined;
}

export function keyStore(db: Knex) {
  const owned = () =>
    db('api_keys as k')
      .join('users as u', 'u.id', 'k.user_id')
      .join('workspaces as w', 'w.id', 'u.workspace_id')
      .select<OwnedRow[]>([
        ...COLUMNS.map((column) => `k.${column}`),
        'w.slug as workspace',
        'u.email as user',
        'u.active as owner_active',
      ]);
  return {
    /** All keys, or those of a workspace or of a user, by workspace, owner and ID. */
    list: async ({ workspace, user }: KeyFilter): Promise<OwnedKey[]> => {
      const rows = await owned()
        .where((filtered) => void (workspace !== undefined && filtered.where('w.slug', workspace)))
        .where((filtered) => void (user !== undefined && filtered.whereRaw('lower(u.email) = lower(?)', [user])))
        .orderByRaw('w.slug collate "C", lower(u.email) collate "C", k.id');
      return rows.map(toOwnedKey);
    },

    find: async (id: number): Promise<OwnedKey | undefined> => {
      const [row] = await owned().where({ 'k.id': id });
      return row && toOwnedKey(row);
    },

    /** Locks the key until the transaction ends. */
    findForUpdate: async (id: number): Promise<ApiKey | undefined> => {
      const row = await db('api_keys').where({ id }).forUpdate().first<Row | undefined>(COLUMNS);
      return row && fromRow(row);
    },

    findByDigest: async (digest: string): Promise<OwnedKey | undefined> => {
      const [row] = await owned().where({ 'k.token_digest': Buffer.from(digest, 'hex') });
      return row && toOwnedKey(row);
    },

    /** @param key with the token's SHA-256 as `digest`, in hexadecimal */
    insert: async (key: Omit<ApiKey, 'id' | 'revokedAt' | 'replacedBy'> & { digest: string }): Promise<ApiKey> => {
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

    /** Ends a key at the time of its expiry or now, in favour of the key that replaces it. */
    replace: async (
      id: number,
      change: { replacedBy: number; expiresAt: Instant | null; revokedAt: Instant | null },
    ): Promise<ApiKey> => {
      const [row] = await db('api_keys')
        .where({ id })
        .update({ replaced_by: change.replacedBy, expires_at: change.expiresAt, revoked_at: change.revokedAt })
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
  replacedBy: row.replaced_by,
});

const toOwnedKey = (row: OwnedRow): OwnedKey => ({
  ...fromRow(row),
  workspace: row.workspace,
  user: row.user,
  ownerActive: row.owner_active,
});
