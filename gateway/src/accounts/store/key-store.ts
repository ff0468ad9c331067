import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { column, type ColumnsOf, type RowOf, rowMapping } from '@tocsin/versioned-resources';
import type { Scope } from '@tocsin/schemas';
import { idleSince } from '../../identity/domain/session.ts';

/** A session of a browser is a key, too. */
export type KeyKind = 'key' | 'session';

export interface ApiKey {
  id: number;
  kind: KeyKind;
  userId: number;
  /** Every change raises it. */
  revision: number;
  name: string;
  /** The first characters of its token. */
  shown: string;
  scopes: Scope[];
  expiresAt: Instant | null;
  revokedAt: Instant | null;
  createdAt: Instant;
  /** To the minute, and a minute late. */
  lastUsedAt: Instant | null;
  /** The key that a rotation replaced it by. */
  replacedBy: number | null;
  /** Of a session: the key whose token began it. */
  begunBy: number | null;
  /** The first of the keys that it has replaced by rotations; null: it has replaced none. */
  firstKeyId: number | null;
}

/** A key with its owner. */
export interface OwnedKey extends ApiKey {
  workspaceId: number;
  /** The workspace's slug. */
  workspace: string;
  /** The owner's email address. */
  user: string;
  ownerActive: boolean;
}

const COLUMNS = {
  id: column('id', 'bigint'),
  kind: column('kind', 'text'),
  userId: column('user_id', 'bigint'),
  revision: column('revision', 'integer'),
  name: column('name', 'text'),
  shown: column('token_shown', 'text'),
  scopes: column('scopes', 'text[]'),
  expiresAt: column('expires_at', 'timestamptz'),
  revokedAt: column('revoked_at', 'timestamptz'),
  createdAt: column('created_at', 'timestamptz'),
  lastUsedAt: column('last_used_at', 'timestamptz'),
  replacedBy: column('replaced_by', 'bigint'),
  begunBy: column('begun_by', 'bigint'),
  firstKeyId: column('first_key_id', 'bigint'),
} as const satisfies ColumnsOf<ApiKey>;
type Row = RowOf<ApiKey, typeof COLUMNS>;
const { names: NAMES, toEntity: fromRow, toRow } = rowMapping<ApiKey, typeof COLUMNS>(COLUMNS);

interface OwnedRow extends Row {
  workspace_id: number;
  workspace: string;
  user: string;
  owner_active: boolean;
}

/** A key of a list, with the key of its order. */
export type ListedKey = ApiKey & { sortKey: string };

/** The position of a key in the list: of its owner, and of the key among theirs. */
export interface KeyPosition {
  sortKey: string;
  id: number;
}

const NAMES_OF_K = NAMES.map((name) => `k.${name}`);
const IS_LIVE_SESSION = `k.kind = 'session' and k.revoked_at is null and k.expires_at > ?
  and coalesce(k.last_used_at, k.created_at) > ?`;

/** Locks the rows in the order of their IDs, so that no two gateways wait for each other. */
const RECORD_USES = `
  with used as (
    select k.id, u.minute
      from unnest((select $1::bigint[]), (select $2::timestamptz[])) as u (id, minute)
      join api_keys k on k.id = u.id
     where k.last_used_at is null or k.last_used_at < u.minute
     order by k.id
       for no key update of k
  )
  update api_keys set last_used_at = used.minute from used where api_keys.id = used.id`;

/** Of a new key, without its token. */
export type NewKeyRow = Pick<ApiKey, 'userId' | 'name' | 'scopes' | 'expiresAt' | 'createdAt'> &
  Partial<Pick<ApiKey, 'kind' | 'begunBy' | 'firstKeyId'>>;

export type KeyChanges = Partial<Pick<ApiKey, 'name' | 'scopes' | 'replacedBy' | 'expiresAt' | 'revokedAt'>>;

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
        ...NAMES_OF_K,
        'w.id as workspace_id',
        'w.slug as workspace',
        'u.email as user',
        'u.active as owner_active',
      ]);
  const revoke = async (keys: Knex.QueryBuilder, now: Instant): Promise<ApiKey[]> => {
    const change = { revoked_at: now, revision: db.raw('revision + 1') };
    const rows = (await keys.update(change).returning(NAMES)) as Row[];
    return rows.map(fromRow);
  };
  return {
    /** All keys, or those of a workspace or of a user, by workspace, owner and ID. */
    list: async ({ workspace, user }: KeyFilter): Promise<OwnedKey[]> => {
      const rows = await owned()
        .where({ 'k.kind': 'key' })
        .where((filtered) => void (workspace !== undefined && filtered.where('w.slug', workspace)))
        .where((filtered) => void (user !== undefined && filtered.whereRaw('lower(u.email) = lower(?)', [user])))
        .orderByRaw('w.slug collate "C", lower(u.email) collate "C", k.id');
      return rows.map(toOwnedKey);
    },

    /** The keys of a workspace, or of one of its users, or their sessions that have not ended, by the owner's email address and ID, after a position. */
    page: async (options: {
      workspaceId: number;
      userId: number | undefined;
      /** Sessions that have not ended now, instead of all keys. */
      sessionsAt?: Instant;
      after: KeyPosition | undefined;
      limit: number;
    }): Promise<ListedKey[]> => {
      const { workspaceId, userId, sessionsAt, after, limit } = options;
      const keys = db('users as u')
        .join('api_keys as k', 'k.user_id', 'u.id')
        .where({ 'u.workspace_id': workspaceId, ...(userId !== undefined && { 'u.id': userId }) })
        .select<(Row & { sort_key: string })[]>([...NAMES_OF_K, db.raw('lower(u.email) as sort_key')])
        .orderByRaw('lower(u.email), k.id')
        .limit(limit);
      if (sessionsAt === undefined) void keys.where('k.kind', 'key');
      else void keys.whereRaw(IS_LIVE_SESSION, [sessionsAt, idleSince(sessionsAt)]);
      if (after !== undefined) {
        const { sortKey, id } = after;
        // The first condition is one that an index has; the second one is exact.
        void keys.whereRaw('lower(u.email) >= ? and (lower(u.email), k.id) > (?, ?::bigint)', [sortKey, sortKey, id]);
      }
      return (await keys).map((row) => ({ ...fromRow(row), sortKey: row.sort_key }));
    },

    find: async (id: number): Promise<OwnedKey | undefined> => {
      const [row] = await owned().where({ 'k.id': id });
      return row && toOwnedKey(row);
    },

    /** Locks the key until the transaction ends. */
    findForUpdate: async (id: number): Promise<ApiKey | undefined> => {
      const row = await db('api_keys').where({ id }).forUpdate().first<Row | undefined>(NAMES);
      return row && fromRow(row);
    },

    findByDigest: async (digest: string): Promise<OwnedKey | undefined> => {
      const [row] = await owned().where({ 'k.token_digest': Buffer.from(digest, 'hex') });
      return row && toOwnedKey(row);
    },

    /** @param key with the token's SHA-256 as `digest`, in hexadecimal */
    insert: async ({ digest, ...values }: NewKeyRow & { shown: string; digest: string }): Promise<ApiKey> => {
      const [row] = await db('api_keys')
        .insert({ ...toRow({ kind: 'key', ...values }), token_digest: Buffer.from(digest, 'hex') })
        .returning<Row[]>(NAMES);
      return fromRow(row as Row);
    },

    change: async (id: number, changes: KeyChanges): Promise<ApiKey> => {
      const [row] = await db('api_keys')
        .where({ id })
        .update({ ...toRow(changes), revision: db.raw('revision + 1') })
        .returning<Row[]>(NAMES);
      return fromRow(row as Row);
    },

    /** Counts the keys of a workspace that are neither revoked nor expired. */
    countValid: async (workspaceId: number, now: Instant): Promise<number> => {
      const [row] = await db('api_keys')
        .join('users', 'users.id', 'api_keys.user_id')
        .where({ 'users.workspace_id': workspaceId, 'api_keys.kind': 'key' })
        .whereNull('api_keys.revoked_at')
        .whereRaw('(api_keys.expires_at is null or api_keys.expires_at > ?)', [now])
        .count<{ count: number }[]>({ count: 'api_keys.id' });
      return row?.count ?? 0;
    },

    /**
     * Ends the sessions of a user except the newest, and returns them.
     * @param options.begunBy only those that a key began; null: only those that no key began
     */
    revokeSessions: async (
      userId: number,
      { begunBy, keep, now }: { begunBy?: number | null; keep: number; now: Instant },
    ): Promise<ApiKey[]> => {
      const ended = db('api_keys as k')
        .where({ 'k.user_id': userId, ...(begunBy !== undefined && { 'k.begun_by': begunBy }) })
        .whereRaw(IS_LIVE_SESSION, [now, idleSince(now)])
        .orderBy('k.id', 'desc')
        .offset(keep)
        .select('k.id');
      return revoke(db('api_keys').whereIn('id', ended), now);
    },

    /** Ends the sessions that the token of a key began, and returns them. */
    revokeSessionsBegunBy: async ({ id, userId }: ApiKey, now: Instant): Promise<ApiKey[]> => {
      const begun = db('api_keys').where({ user_id: userId, kind: 'session', begun_by: id }).whereNull('revoked_at');
      return revoke(begun.where('expires_at', '>', now), now);
    },

    /** Deletes the sessions of a user that expired before this time. */
    deleteSessionsBefore: async (userId: number, time: Instant): Promise<void> => {
      await db('api_keys').where({ user_id: userId, kind: 'session' }).where('expires_at', '<', time).delete();
    },

    /** Stores the minutes in which keys were used last, by their IDs, unless later ones are stored. */
    recordUses: async (uses: ReadonlyMap<number, Instant>): Promise<void> => {
      await query(db, { name: 'record-key-uses', text: RECORD_USES, values: [[...uses.keys()], [...uses.values()]] });
    },
  };
}

const toOwnedKey = (row: OwnedRow): OwnedKey => ({
  ...fromRow(row),
  workspaceId: row.workspace_id,
  workspace: row.workspace,
  user: row.user,
  ownerActive: row.owner_active,
});
