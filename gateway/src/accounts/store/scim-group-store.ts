import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Condition, MemberChange } from '../domain/directory.ts';
import { type PositionedPage, testsOf } from './scim-user-store.ts';

/** A group of a directory. */
export interface Group {
  id: number;
  workspaceId: number;
  displayName: string;
  externalId: string | null;
  /** How many members it has. */
  size: number;
  createdAt: Instant;
  updatedAt: Instant;
}

const TESTS = new Map<Condition['name'], (value: string) => string>([
  ['id', (value) => `g.id = ${value}`],
  ['displayName', (value) => `lower(g.display_name) = lower(${value})`],
  ['externalId', (value) => `g.external_id = ${value}`],
  [
    'member',
    (value) => `g.id in (select group_id from scim_group_members where workspace_id = $1 and user_id = ${value})`,
  ],
]);

const FROM = 'from scim_groups as g where g.workspace_id = $1';

export const scimGroupStore = (db: Knex) => ({
  /** By ID, with the number of all that meet the conditions. */
  list: async ({ workspaceId, conditions, offset, limit }: PositionedPage) => {
    const { text, values } = testsOf(conditions, TESTS);
    const bound = [workspaceId, ...values];
    const groups = await query<Group>(db, {
      text: `select g.id, g.workspace_id as "workspaceId", g.display_name as "displayName",
          g.external_id as "externalId", g.created_at as "createdAt", g.updated_at as "updatedAt",
          (select count(m.user_id) from scim_group_members as m
            where m.workspace_id = g.workspace_id and m.group_id = g.id) as size
        ${FROM}${text} order by g.id offset $${bound.length + 1} limit $${bound.length + 2}`,
      values: [...bound, offset, limit],
    });
    const [row] = await query<{ total: number }>(db, {
      text: `select count(g.id) as total ${FROM}${text}`,
      values: bound,
    });
    return { groups, total: row?.total ?? 0 };
  },

  insert: async (
    { workspaceId, displayName, externalId }: Pick<Group, 'workspaceId' | 'displayName' | 'externalId'>,
    now: Instant,
  ) => {
    const [row] = await query<{ id: number }>(db, {
      text: `insert into scim_groups (workspace_id, display_name, external_id, created_at, updated_at)
        values ($1, $2, $3, $4, $4) returning id`,
      values: [workspaceId, displayName, externalId, now],
    });
    return (row as { id: number }).id;
  },

  change: async (
    { workspaceId, id, displayName, externalId }: Omit<Group, 'size' | 'createdAt' | 'updatedAt'>,
    now: Instant,
  ) => {
    await query(db, {
      text: `update scim_groups set display_name = $3, external_id = $4, updated_at = $5
        where workspace_id = $1 and id = $2`,
      values: [workspaceId, id, displayName, externalId, now],
    });
  },

  /** Its members go with it. */
  remove: async ({ workspaceId, id }: Pick<Group, 'workspaceId' | 'id'>) => {
    await query(db, { text: 'delete from scim_groups where workspace_id = $1 and id = $2', values: [workspaceId, id] });
  },
});

export const scimMemberStore = (db: Knex) => ({
  /** Returns whose membership began and ended, how many members there are, and how many of the added ones are users. */
  change: async (
    { workspaceId, id }: Pick<Group, 'workspaceId' | 'id'>,
    { isWhole, added, removed }: MemberChange,
  ): Promise<{ added: number[]; removed: number[]; size: number; users: number }> => {
    const idsOf = (rows: { userId: number }[]) => rows.map(({ userId }) => userId);
    const gone = await query<{ userId: number }>(db, {
      text: `delete from scim_group_members where workspace_id = $1 and group_id = $2
          and (user_id = any($3::bigint[])) <> $4::boolean returning user_id as "userId"`,
      values: [workspaceId, id, isWhole ? [...added] : [...removed], isWhole],
    });
    const come = await query<{ userId: number }>(db, {
      text: `insert into scim_group_members (workspace_id, group_id, user_id)
        select workspace_id, $2, id from users where workspace_id = $1 and id = any($3::bigint[])
        on conflict do nothing returning user_id as "userId"`,
      values: [workspaceId, id, [...added]],
    });
    const [counts] = await query<{ size: number; users: number }>(db, {
      text: `select count(user_id) as size, count(user_id) filter (where user_id = any($3::bigint[])) as users
        from scim_group_members where workspace_id = $1 and group_id = $2`,
      values: [workspaceId, id, [...added]],
    });
    return { added: idsOf(come), removed: idsOf(gone), size: counts?.size ?? 0, users: counts?.users ?? 0 };
  },

  list: async (
    workspaceId: number,
    groupIds: readonly number[],
  ): Promise<{ groupId: number; userId: number; name: string }[]> =>
    query(db, {
      text: `select m.group_id as "groupId", m.user_id as "userId", u.name
        from scim_group_members as m join users as u on u.workspace_id = m.workspace_id and u.id = m.user_id
        where m.workspace_id = $1 and m.group_id = any($2::bigint[]) order by m.group_id, m.user_id`,
      values: [workspaceId, groupIds],
    }),

  hasAny: async (workspaceId: number): Promise<boolean> =>
    (await query(db, { text: 'select id from scim_groups where workspace_id = $1 limit 1', values: [workspaceId] }))
      .length > 0,

  /** What a mapping may call the groups of users: their names and external IDs. */
  namesOf: async (workspaceId: number, userIds: readonly number[]): Promise<Map<number, string[]>> => {
    const rows = await query<{ userId: number; names: (string | null)[] }>(db, {
      text: `select m.user_id as "userId", array_agg(g.display_name) || array_agg(g.external_id) as names
        from scim_group_members as m join scim_groups as g on g.workspace_id = m.workspace_id and g.id = m.group_id
        where m.workspace_id = $1 and m.user_id = any($2::bigint[]) group by m.user_id`,
      values: [workspaceId, userIds],
    });
    return new Map(rows.map(({ userId, names }) => [userId, names.filter((name) => name !== null)]));
  },
});
