import { type Knex, pipeline, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { assignmentsOf, column, type ColumnsOf, insertOf, rowMapping } from '@tocsin/versioned-resources';
import type { Scope } from '@tocsin/schemas';
import { idleSince } from '../../identity/domain/session.ts';

/** A session of a browser is a key, too, and so is what a person allows an agent. */
type KeyKind = 'key' | 'session' | 'agent';

/** What people begin by signing in, and end one by one. */
type SessionKind = Exclude<KeyKind, 'key'>;

export interface ApiKey {
  id: number;
  workspaceId: number;
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
  /** Of a session: the key whose token began it; of an agent: that of the session in which it was allowed. */
  begunBy: number | null;
  /** The first of the keys that it has replaced by rotations; null: it has replaced none. */
  firstKeyId: number | null;
  /** Of an agent: its OAuth client. */
  clientId: string | null;
}

/** A key with its owner. */
export interface OwnedKey extends ApiKey {
  /** The workspace's slug. */
  workspace: string;
  /** The owner's email address. */
  user: string;
  ownerActive: boolean;
}

const COLUMNS = {
  id: column('id', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
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
  clientId: column('client_id', 'text'),
} as const satisfies ColumnsOf<ApiKey>;
const { selection: SELECTION, selectionOf, toRow } = rowMapping<ApiKey, typeof COLUMNS>(COLUMNS);
const SELECTION_OF_K = selectionOf('k');

/** A key of a list, with the key of its order. */
export type ListedKey = ApiKey & { sortKey: string };

/** The position of a key in the list: of its owner, and of the key among theirs. */
export interface KeyPosition {
  sortKey: string;
  id: number;
}

const SELECT_OWNED = `
  select ${SELECTION_OF_K}, w.slug as workspace, u.email as user, u.active as "ownerActive"
    from api_keys k
    join users u on u.workspace_id = k.workspace_id and u.id = k.user_id
    join workspaces w on w.id = k.workspace_id`;

/** Whether a key `k` is a session or an agent that has not ended. Agents may rest. */
const isLiveSession = (now: string, oldestUse: string) =>
  `k.kind <> 'key' and k.revoked_at is null and k.expires_at > ${now}
  and (k.kind = 'agent' or coalesce(k.last_used_at, k.created_at) > ${oldestUse})`;

const REVOKE = 'update api_keys set revoked_at = $3, revision = revision + 1';

/** The rows of `Use`s. */
export const USES =
  'unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::timestamptz[])) as u (workspace_id, id, minute)';

/** The values of `USES`. */
export const valuesOfUses = (uses: readonly Use[]) => [
  uses.map(({ workspaceId }) => workspaceId),
  uses.map(({ id }) => id),
  uses.map(({ minute }) => minute),
];

/** Locks the rows in the order of their IDs, so that no two gateways wait for each other. */
const RECORD_USES = `
  with used as (
    select k.workspace_id, k.id, u.minute
      from ${USES}
      join api_keys k on k.workspace_id = u.workspace_id and k.id = u.id
     where k.last_used_at is null or k.last_used_at < u.minute
     order by k.id
       for no key update of k
  )
  update api_keys set last_used_at = used.minute from used
   where api_keys.workspace_id = used.workspace_id and api_keys.id = used.id`;

/** Of a new key, without its token. */
export type NewKeyRow = Pick<ApiKey, 'workspaceId' | 'userId' | 'name' | 'scopes' | 'expiresAt' | 'createdAt'> &
  Partial<Pick<ApiKey, 'kind' | 'begunBy' | 'firstKeyId' | 'clientId'>>;

export type KeyChanges = Partial<Pick<ApiKey, 'name' | 'scopes' | 'replacedBy' | 'expiresAt' | 'revokedAt'>>;

/** When a key, or a user by any key, acted last, to the minute. */
export interface Use {
  workspaceId: number;
  /** Of the key, or of the user. */
  id: number;
  minute: Instant;
}

export interface KeyFilter {
  /** The workspace's slug. */
  workspace?: string | undefined;
  /** The owner's email address. */
  user?: string | undefined;
}

export function keyStore(db: Knex) {
  return {
    find: async (workspaceId: number, id: number): Promise<OwnedKey | undefined> => {
      const [key] = await query<OwnedKey>(db, {
        name: 'find-key',
        text: `${SELECT_OWNED} where k.workspace_id = $1 and k.id = $2`,
        values: [workspaceId, id],
      });
      return key;
    },

    /** The same for an operator, who names no workspace. */
    findInAll: async (id: number): Promise<OwnedKey | undefined> => {
      const [key] = await query<OwnedKey>(db, { text: `${SELECT_OWNED} where k.id = $1`, values: [id] });
      return key;
    },

    /** Locks the key until the transaction ends. */
    findForUpdate: async (workspaceId: number, id: number): Promise<ApiKey | undefined> => {
      const [key] = await query<ApiKey>(db, {
        name: 'lock-key',
        text: `select ${SELECTION} from api_keys where workspace_id = $1 and id = $2 for update`,
        values: [workspaceId, id],
      });
      return key;
    },

    /** @param slug of its workspace */
    findByDigest: async (slug: string, digest: string): Promise<OwnedKey | undefined> => {
      const [key] = await query<OwnedKey>(db, {
        name: 'find-key-by-digest',
        text: `${SELECT_OWNED} where w.slug = $1 and k.token_digest = $2`,
        values: [slug, Buffer.from(digest, 'hex')],
      });
      return key;
    },

    /** @param key with the token's SHA-256 as `digest`, in hexadecimal */
    insert: async ({ digest, ...key }: NewKeyRow & { shown: string; digest: string }): Promise<ApiKey> => {
      const { text, values } = insertOf('api_keys', {
        ...toRow({ kind: 'key', begunBy: null, firstKeyId: null, clientId: null, ...key }),
        token_digest: Buffer.from(digest, 'hex'),
      });
      const [inserted] = await query<ApiKey>(db, {
        name: 'insert-key',
        text: `${text} returning ${SELECTION}`,
        values,
      });
      return inserted as ApiKey;
    },

    change: async ({ workspaceId, id }: ApiKey, changes: KeyChanges): Promise<ApiKey> => {
      const columns = toRow(changes);
      const [changed] = await query<ApiKey>(db, {
        name: 'change-key',
        text: `update api_keys set revision = revision + 1, ${assignmentsOf(columns, 3)}
          where workspace_id = $1 and id = $2 returning ${SELECTION}`,
        values: [workspaceId, id, ...Object.values(columns)],
        isComposed: true,
      });
      return changed as ApiKey;
    },

    /** Counts the keys of a workspace that are neither revoked nor expired. */
    countValid: async (workspaceId: number, now: Instant): Promise<number> => {
      const [row] = await query<{ count: number }>(db, {
        name: 'count-valid-keys',
        text: `select count(id) as count from api_keys
          where workspace_id = $1 and kind = 'key' and revoked_at is null and (expires_at is null or expires_at > $2)`,
        values: [workspaceId, now],
      });
      return row?.count ?? 0;
    },

    /** Stores the minutes in which keys were used last, unless later ones are stored. */
    recordUses: async (uses: readonly Use[]): Promise<void> => {
      await query(db, { name: 'record-key-uses', text: RECORD_USES, values: valuesOfUses(uses) });
    },
  };
}

/** Lists keys. */
export function keyLists(db: Knex) {
  return {
    /** All keys, or those of a workspace or of a user, by workspace, owner and ID. */
    list: async ({ workspace, user }: KeyFilter): Promise<OwnedKey[]> =>
      query<OwnedKey>(db, {
        text: `${SELECT_OWNED}
          where k.kind = 'key' and ($1::text is null or w.slug = $1) and ($2::text is null or lower(u.email) = lower($2))
          order by w.slug collate "C", lower(u.email) collate "C", k.id`,
        values: [workspace ?? null, user ?? null],
      }),

    /** The keys of a workspace, or of one of its users, or their sessions and agents that have not ended, by the owner's email address and ID, after a position. */
    page: async (options: {
      workspaceId: number;
      userId: number | undefined;
      /** Sessions and agents that have not ended now, instead of all keys. */
      sessionsAt?: Instant;
      after: KeyPosition | undefined;
      limit: number;
    }): Promise<ListedKey[]> => {
      const { workspaceId, userId, sessionsAt, after, limit } = options;
      const keys = db('users as u')
        .join('api_keys as k', { 'k.workspace_id': 'u.workspace_id', 'k.user_id': 'u.id' })
        .where({ 'u.workspace_id': workspaceId, ...(userId !== undefined && { 'u.id': userId }) })
        .select<ListedKey[]>(db.raw(`${SELECTION_OF_K}, lower(u.email) as "sortKey"`))
        .orderByRaw('lower(u.email), k.id')
        .limit(limit);
      if (sessionsAt === undefined) void keys.where('k.kind', 'key');
      else void keys.whereRaw(isLiveSession('?', '?'), [sessionsAt, idleSince(sessionsAt)]);
      if (after !== undefined) {
        const { sortKey, id } = after;
        // The first condition is one that an index has; the second one is exact.
        void keys.whereRaw('lower(u.email) >= ? and (lower(u.email), k.id) > (?, ?::bigint)', [sortKey, sortKey, id]);
      }
      return keys;
    },
  };
}

/** Ends and deletes sessions and agents. */
export function sessionStore(db: Knex) {
  return {
    /**
     * Ends the sessions and agents of a user except the newest, and returns them.
     * @param options.only of this kind, which a key began; null: which no key began
     */
    revokeSessions: async (
      { workspaceId, userId }: Pick<ApiKey, 'workspaceId' | 'userId'>,
      { only, keep, now }: { only?: { kind: SessionKind; begunBy: number | null }; keep: number; now: Instant },
    ): Promise<ApiKey[]> =>
      query<ApiKey>(db, {
        name: 'revoke-sessions',
        text: `${REVOKE} where workspace_id = $1 and id in (
            select k.id from api_keys k
            where k.workspace_id = $1 and k.user_id = $2 and ${isLiveSession('$3', '$4')}
              and ($5::text is null or (k.kind = $5 and k.begun_by is not distinct from $6))
            order by k.id desc offset $7)
          returning ${SELECTION}`,
        values: [workspaceId, userId, now, idleSince(now), only?.kind ?? null, only?.begunBy ?? null, keep],
      }),

    /** Ends the sessions that the token of a key began, with the agents that they allowed, and returns them. */
    revokeSessionsBegunBy: async ({ workspaceId, id, userId }: ApiKey, now: Instant): Promise<ApiKey[]> =>
      query<ApiKey>(db, {
        name: 'revoke-sessions-begun-by-key',
        text: `${REVOKE}
          where workspace_id = $1 and user_id = $2 and kind <> 'key' and begun_by = $4 and revoked_at is null
            and expires_at > $3
          returning ${SELECTION}`,
        values: [workspaceId, userId, now, id],
      }),

    /** Deletes all sessions of a user, and revokes all keys. */
    endAll: async ({ workspaceId, userId }: Pick<ApiKey, 'workspaceId' | 'userId'>, now: Instant): Promise<void> => {
      await pipeline(db, [
        {
          text: `delete from api_keys where workspace_id = $1 and user_id = $2 and kind = 'session'`,
          values: [workspaceId, userId],
        },
        {
          text: `update api_keys set revoked_at = $3, revision = revision + 1
            where workspace_id = $1 and user_id = $2 and revoked_at is null`,
          values: [workspaceId, userId, now],
        },
      ]);
    },

    /** Deletes the sessions and agents of a user that expired before this time. */
    deleteSessionsBefore: async (
      { workspaceId, userId }: Pick<ApiKey, 'workspaceId' | 'userId'>,
      time: Instant,
    ): Promise<void> => {
      await query(db, {
        name: 'delete-sessions-before',
        text: `delete from api_keys
          where workspace_id = $1 and user_id = $2 and kind <> 'key' and expires_at < $3`,
        values: [workspaceId, userId, time],
      });
    },
  };
}
