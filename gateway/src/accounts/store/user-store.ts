import { type Knex, query } from '@tocsin/postgres';
import { column, type ColumnsOf, type RowOf, rowMapping } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import type { Role, Seat } from '../../identity/domain/roles.ts';

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
} as const satisfies ColumnsOf<User>;
type Row = RowOf<User, typeof COLUMNS>;
const { names: NAMES, toEntity: fromRow, toRow } = rowMapping<User, typeof COLUMNS>(COLUMNS);

/** A user of a list, with the key of its order. */
export type ListedUser = User & { sortKey: string };

/** What a search compares of a user. */
export type SearchedUser = Pick<ListedUser, 'id' | 'name' | 'email' | 'sortKey'>;

type ListedRow = Row & { sort_key: string };
type SearchedRow = Pick<ListedRow, 'id' | 'name' | 'email' | 'sort_key'>;

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
  const SORT_KEY = db.raw('lower(email) as sort_key');
  const pageOf = ({ workspaceId, filter, after, limit }: UserPageRequest) => {
    const users = db('users').where({ workspace_id: workspaceId }).orderByRaw('lower(email)').limit(limit);
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) void users.where(name, value);
    if (after !== undefined) void users.whereRaw('lower(email) > ?', [after]);
    return users;
  };
  return {
    findByEmail: async (workspaceId: number, email: string): Promise<User | undefined> => {
      const row = await db('users')
        .where({ workspace_id: workspaceId })
        .whereRaw('lower(email) = lower(?)', [email])
        .first<Row | undefined>(NAMES);
      return row && fromRow(row);
    },

    find: async (workspaceId: number, id: number): Promise<User | undefined> => {
      const row = await db('users').where({ workspace_id: workspaceId, id }).first<Row | undefined>(NAMES);
      return row && fromRow(row);
    },

    /** The users of a workspace by email address, after a sort key. */
    page: async (request: UserPageRequest): Promise<ListedUser[]> => {
      const rows = await pageOf(request).select<ListedRow[]>([...NAMES, SORT_KEY]);
      return rows.map(fromListedRow);
    },

    /** What a search compares of the same users. */
    texts: async (request: UserPageRequest): Promise<SearchedUser[]> => {
      const rows = await pageOf(request).select<SearchedRow[]>(['id', 'name', 'email', SORT_KEY]);
      return rows.map(({ id, name, email, sort_key: sortKey }) => ({ id, name, email, sortKey }));
    },

    /** The users with these IDs in the order of `page`. */
    listed: async (workspaceId: number, ids: readonly number[]): Promise<ListedUser[]> => {
      const rows = await db('users')
        .where({ workspace_id: workspaceId })
        .whereIn('id', ids)
        .orderByRaw('lower(email)')
        .select<ListedRow[]>([...NAMES, SORT_KEY]);
      return rows.map(fromListedRow);
    },

    /** Whether the workspace has an active user with one of these roles besides this one. */
    hasOther: async (
      { workspaceId, id }: Pick<User, 'workspaceId' | 'id'>,
      roles: readonly Role[],
    ): Promise<boolean> => {
      const other = await db('users')
        .where({ workspace_id: workspaceId, active: true })
        .whereIn('role', roles)
        .whereNot({ id })
        .first<{ id: number } | undefined>('id');
      return other !== undefined;
    },

    /** All users, or those of a workspace, with its slug; by workspace and email address. */
    list: async (workspace: string | undefined): Promise<(User & { workspace: string })[]> => {
      const rows = await db('users as u')
        .join('workspaces as w', 'w.id', 'u.workspace_id')
        .select<(Row & { workspace: string })[]>([...NAMES.map((name) => `u.${name}`), 'w.slug as workspace'])
        .where((filtered) => void (workspace !== undefined && filtered.where('w.slug', workspace)))
        .orderByRaw('w.slug collate "C", lower(u.email) collate "C"');
      return rows.map((row) => ({ ...fromRow(row), workspace: row.workspace }));
    },

    /** Returns the users with these IDs in any order. */
    listByIds: async (workspaceId: number, ids: readonly number[]): Promise<User[]> => {
      const rows = await db('users').where({ workspace_id: workspaceId }).whereIn('id', ids).select<Row[]>(NAMES);
      return rows.map(fromRow);
    },

    /** Returns the users with these IDs or email addresses, in any case of letters, in any order. */
    named: async (
      workspaceId: number,
      { ids, emails }: { ids: readonly number[]; emails: readonly string[] },
    ): Promise<Pick<User, 'id' | 'email' | 'name'>[]> => {
      return query(db, {
        text: `select id, email, name from users where workspace_id = $1 and id = any($2::bigint[])
         union
         select id, email, name from users
         join (select distinct lower(address) as address from unnest($3::text[]) as address) as asked
           on lower(users.email) = asked.address
         where workspace_id = $1`,
        values: [workspaceId, ids, emails],
      });
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
      const [row] = await db('users')
        .insert({ ...toRow({ ...user, createdAt: now, updatedAt: now }), version })
        .returning<Row[]>(NAMES);
      return fromRow(row as Row);
    },

    change: async (
      id: number,
      properties: Partial<UserProperties>,
      { version, now }: ChangeMetadata,
    ): Promise<User> => {
      const [row] = await db('users')
        .where({ id })
        .update({ ...properties, revision: db.raw('revision + 1'), version, updated_at: now })
        .returning<Row[]>(NAMES);
      return fromRow(row as Row);
    },
  };
}

const fromListedRow = (row: ListedRow): ListedUser => ({ ...fromRow(row), sortKey: row.sort_key });
