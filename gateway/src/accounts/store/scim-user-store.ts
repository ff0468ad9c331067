import { type Knex, pipeline, query } from '@tocsin/postgres';
import type { Condition } from '../domain/directory.ts';
import { type User, userSelectionOf } from './user-store.ts';

/** A user with the names that a directory has for them. Without a directory the user name is the email address. */
export interface DirectoryUser extends User {
  userName: string;
  externalId: string | null;
}

export interface PositionedPage {
  workspaceId: number;
  conditions: readonly Condition[];
  offset: number;
  limit: number;
}

const USER_NAME = 'coalesce(s.user_name, u.email)';

const TESTS = new Map<Condition['name'], (value: string) => string>([
  ['id', (value) => `u.id = ${value}`],
  [
    'userName',
    // Each part has an index.
    (value) => `u.id in (
        select user_id from scim_users where workspace_id = $1 and lower(user_name) = lower(${value})
        union all select id from users where workspace_id = $1 and lower(email) = lower(${value}))
      and lower(${USER_NAME}) = lower(${value})`,
  ],
  ['externalId', (value) => `s.external_id = ${value}`],
  ['email', (value) => `lower(u.email) = lower(${value})`],
  ['displayName', (value) => `u.name = ${value}`],
  ['active', (value) => `u.active = ${value}`],
]);

/** Returns the `where` of conditions that a table can have; $1 is the workspace. */
export function testsOf(
  conditions: readonly Condition[],
  tests: ReadonlyMap<Condition['name'], (value: string) => string>,
): { text: string; values: Condition['value'][] } {
  const texts = conditions.map(({ name }, index) => tests.get(name)?.(`$${index + 2}`) ?? 'false');
  return { text: texts.map((text) => ` and ${text}`).join(''), values: conditions.map(({ value }) => value) };
}

const FROM = `from users as u left join scim_users as s on s.workspace_id = u.workspace_id and s.user_id = u.id
  where u.workspace_id = $1`;

export const scimUserStore = (db: Knex) => ({
  /** By ID, with the number of all that meet the conditions. */
  list: async ({ workspaceId, conditions, offset, limit }: PositionedPage) => {
    const { text, values } = testsOf(conditions, TESTS);
    const bound = [workspaceId, ...values];
    const users = await query<DirectoryUser>(db, {
      text: `select ${userSelectionOf('u')}, ${USER_NAME} as "userName", s.external_id as "externalId"
        ${FROM}${text} order by u.id offset $${bound.length + 1} limit $${bound.length + 2}`,
      values: [...bound, offset, limit],
    });
    const [row] = await query<{ total: number }>(db, {
      text: `select count(u.id) as total ${FROM}${text}`,
      values: bound,
    });
    return { users, total: row?.total ?? 0 };
  },

  put: async ({ workspaceId, id, userName, externalId }: DirectoryUser): Promise<void> => {
    await query(db, {
      text: `insert into scim_users (workspace_id, user_id, user_name, external_id) values ($1, $2, $3, $4)
        on conflict (workspace_id, user_id) do update set user_name = excluded.user_name,
          external_id = excluded.external_id`,
      values: [workspaceId, id, userName, externalId],
    });
  },

  /** Deletes what a directory calls a user, and the memberships of groups. */
  forget: async ({ workspaceId, id }: Pick<User, 'workspaceId' | 'id'>): Promise<void> => {
    await pipeline(db, [
      {
        text: 'delete from scim_group_members where workspace_id = $1 and user_id = $2',
        values: [workspaceId, id],
      },
      { text: 'delete from scim_users where workspace_id = $1 and user_id = $2', values: [workspaceId, id] },
    ]);
  },
});
