import { type Knex, query } from '@tocsin/postgres';
import { assignmentsOf, column, type ColumnsOf, insertOf, rowMapping } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import type { Role, Seat } from '../../identity/domain/roles.ts';
import { type Use, USES, valuesOfUses } from './key-store.ts';

export interface User {
  id: number;
  workspaceId: number;
  /** Every change raises it. */
  revision: number;
  email: string;
  name: string;
  active: boolean;
  seat: Seat;
  role: Role;
  createdAt: Instant;
  updatedAt: Instant;
  /** To the minute, and a minute late. */
  lastSeenAt: Instant | null;
}

export type UserProperties = Pick<User, 'email' | 'name' | 'active' | 'seat' | 'role'>;

const COLUMNS = {
  id: column('id', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  revision: column('revision', 'integer'),
  email: column('email', 'text'),
  name: column('name', 'text'),
  active: column('active', 'boolean'),
  seat: column('seat', 'text'),
  role: column('role', 'text'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
  lastSeenAt: column('last_seen_at', 'timestamptz'),
} as const satisfies ColumnsOf<User>;
const { selection: SELECTION, selectionOf, toRow } = rowMapping<User, typeof COLUMNS>(COLUMNS);
/** Selects a user in a statement with other tables. */
export const userSelectionOf = selectionOf;
/**
 * An erased user was never seen, and stays so. Rows that a command has locked are left out, because commands lock users
 * in any order; their IDs are returned.
 */
const RECORD_SEEN = `
  with seen as materialized (
    select u.workspace_id, u.id, u.minute from ${USES} join users on users.workspace_id = u.workspace_id and users.id = u.id
     where coalesce(users.last_seen_at < u.minute, users.active)
  ), locked as materialized (
    select users.workspace_id, users.id, seen.minute
      from seen join users on users.workspace_id = seen.workspace_id and users.id = seen.id
     where coalesce(users.last_seen_at < seen.minute, users.active)
       for no key update of users skip locked
  ), stored as (
    update users set last_seen_at = locked.minute from locked
     where users.workspace_id = locked.workspace_id and users.id = locked.id
  )
  select id from seen where id not in (select id from locked)`;

const SORT_KEY = 'lower(email) as "sortKey"';

/** A user of a list, with the key of its order. */
export type ListedUser = User & { sortKey: string };

/** What a search compares of a user. */
export type SearchedUser = Pick<ListedUser, 'id' | 'name' | 'email' | 'sortKey'>;

/** Users in the order of their email addresses, after a sort key. */
export interface UserPageRequest {
  workspaceId: number;
  filter: UserFilter;
  after: string | undefined;
  limit: number;
}

export type UserFilter = { [Name in 'active' | 'role' | 'seat']?: User[Name] | undefined };

/** The workspace's version after the change, and the time of the change. */
export interface ChangeMetadata {
  version: number;
  now: Instant;
}

export function userStore(db: Knex) {
  return {
    findByEmail: async (workspaceId: number, email: string): Promise<User | undefined> => {
      const [user] = await query<User>(db, {
        name: 'find-user-by-email',
        text: `select ${SELECTION} from users where workspace_id = $1 and lower(email) = lower($2)`,
        values: [workspaceId, email],
      });
      return user;
    },

    find: async (workspaceId: number, id: number): Promise<User | undefined> => {
      const [user] = await query<User>(db, {
        name: 'find-user',
        text: `select ${SELECTION} from users where workspace_id = $1 and id = $2`,
        values: [workspaceId, id],
      });
      return user;
    },

    /** Whether the workspace has an active user with one of these roles besides this one. */
    hasOther: async (
      { workspaceId, id }: Pick<User, 'workspaceId' | 'id'>,
      roles: readonly Role[],
    ): Promise<boolean> => {
      const others = await query(db, {
        name: 'find-other-user-with-role',
        text: `select id from users
          where workspace_id = $1 and active and id <> $2 and role = any((select $3::text[])::text[]) limit 1`,
        values: [workspaceId, id, roles],
      });
      return others.length > 0;
    },

    /** Counts the users of a workspace, up to a limit each: the active ones and all. */
    count: async (workspaceId: number, limit: number): Promise<{ active: number; all: number }> => {
      const [row] = await query<{ active: number; all: number }>(db, {
        text: `select
            (select count(workspace_id) from (
              select workspace_id from users where workspace_id = $1 and active limit $2) as counted) as active,
            (select count(workspace_id) from (
              select workspace_id from users where workspace_id = $1 limit $2) as counted) as all`,
        values: [workspaceId, limit],
      });
      return row as { active: number; all: number };
    },

    insert: async (
      user: Pick<User, 'workspaceId'> & UserProperties,
      { version, now }: ChangeMetadata,
    ): Promise<User> => {
      const { text, values } = insertOf('users', { ...toRow({ ...user, createdAt: now, updatedAt: now }), version });
      const [inserted] = await query<User>(db, {
        name: 'insert-user',
        text: `${text} returning ${SELECTION}`,
        values,
      });
      return inserted as User;
    },

    change: async (
      { workspaceId, id }: Pick<User, 'workspaceId' | 'id'>,
      properties: Partial<UserProperties & Pick<User, 'lastSeenAt'>>,
      { version, now }: ChangeMetadata,
    ): Promise<User> => {
      const columns = toRow(properties);
      const [changed] = await query<User>(db, {
        name: 'change-user',
        text: `update users set revision = revision + 1, version = $3, updated_at = $4, ${assignmentsOf(columns, 5)}
          where workspace_id = $1 and id = $2 returning ${SELECTION}`,
        values: [workspaceId, id, version, now, ...Object.values(columns)],
        isComposed: true,
      });
      return changed as User;
    },
  };
}

/**
 * Stores the minutes in which users were seen last, unless later ones are stored; without a revision, because nobody has
 * changed them.
 * @returns those whose rows are locked
 */
export async function recordSeen(db: Knex, uses: readonly Use[]): Promise<Use[]> {
  const rows = await query<{ id: number }>(db, {
    name: 'record-users-seen',
    text: RECORD_SEEN,
    values: valuesOfUses(uses),
  });
  const locked = new Set(rows.map(({ id }) => id));
  return uses.filter(({ id }) => locked.has(id));
}

/** Lists users. */
export function userLists(db: Knex) {
  const pageOf = ({ workspaceId, filter, after, limit }: UserPageRequest) => {
    const users = db('users').where({ workspace_id: workspaceId }).orderByRaw('lower(email)').limit(limit);
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) void users.where(name, value);
    if (after !== undefined) void users.whereRaw('lower(email) > ?', [after]);
    return users;
  };
  return {
    /** The users of a workspace by email address, after a sort key. */
    page: async (request: UserPageRequest): Promise<ListedUser[]> =>
      pageOf(request).select<ListedUser[]>(db.raw(`${SELECTION}, ${SORT_KEY}`)),

    /** What a search compares of the same users. */
    texts: async (request: UserPageRequest): Promise<SearchedUser[]> =>
      pageOf(request).select<SearchedUser[]>(db.raw(`id, name, email, ${SORT_KEY}`)),

    /** The users with these IDs in the order of `page`. */
    listed: async (workspaceId: number, ids: readonly number[]): Promise<ListedUser[]> =>
      query<ListedUser>(db, {
        name: 'list-found-users',
        text: `select ${SELECTION}, ${SORT_KEY} from users
          where workspace_id = $1 and id = any((select $2::bigint[])::bigint[]) order by lower(email)`,
        values: [workspaceId, ids],
      }),

    /** All users, or those of a workspace, with its slug; by workspace and email address. */
    list: async (workspace: string | undefined): Promise<(User & { workspace: string })[]> =>
      query<User & { workspace: string }>(db, {
        text: `select ${selectionOf('u')}, w.slug as workspace
          from users as u join workspaces as w on w.id = u.workspace_id
          where $1::text is null or w.slug = $1 order by w.slug collate "C", lower(u.email) collate "C"`,
        values: [workspace ?? null],
      }),

    /** Returns the users with these IDs in any order. */
    listByIds: async (workspaceId: number, ids: readonly number[]): Promise<User[]> =>
      query<User>(db, {
        name: 'find-users-by-id',
        text: `select ${SELECTION} from users where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
        values: [workspaceId, ids],
      }),

    /** Returns the users with these IDs or email addresses, in any case of letters, in any order. */
    named: async (
      workspaceId: number,
      { ids, emails }: { ids: readonly number[]; emails: readonly string[] },
    ): Promise<Pick<User, 'id' | 'email' | 'name' | 'active'>[]> => {
      return query(db, {
        text: `select id, email, name, active from users where workspace_id = $1 and id = any($2::bigint[])
         union
         select id, email, name, active from users
         join (select distinct lower(address) as address from unnest($3::text[]) as address) as asked
           on lower(users.email) = asked.address
         where workspace_id = $1`,
        values: [workspaceId, ids, emails],
      });
    },
  };
}
