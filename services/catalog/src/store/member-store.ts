import { notFound } from '@tocsin/http';
import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Member, MemberRole, Membership } from '../domain/member.ts';

/** A select list whose rows are members. */
const SELECTION = 'user_id as "userId", name, email, role, created_at as "createdAt", updated_at as "updatedAt"';
const JOIN = `join replica_users on replica_users.workspace_id = team_members.workspace_id
  and replica_users.id = team_members.user_id`;
const IS_MEMBER = 'team_members.workspace_id = $1 and team_id = $2 and user_id = $3';

/** The position of a member in the list. */
export interface MemberPosition {
  sortKey: string;
  userId: number;
}

/**
 * The members of one team, over a pool or a transaction. The memberships of inactive users stay stored but are not returned
 * until the user is active again.
 */
export function memberStore(db: Knex, { workspaceId, teamId }: { workspaceId: number; teamId: number }) {
  return {
    /** @throws DomainError `not_found` */
    async get(userId: number): Promise<Member> {
      const [member] = await query<Member>(db, {
        name: 'get-member',
        text: `select ${SELECTION} from team_members ${JOIN} where ${IS_MEMBER} and active`,
        values: [workspaceId, teamId, userId],
      });
      if (member === undefined) throw notFound('The member');
      return member;
    },

    /** Returns members by name, then ID, starting after a position. */
    async list(options: { limit: number; after: MemberPosition | undefined }): Promise<Member[]> {
      const members = db('team_members')
        .joinRaw(JOIN)
        .where({ 'team_members.workspace_id': workspaceId, team_id: teamId, active: true })
        .select<Member[]>(db.raw(SELECTION))
        .orderBy(['sort_name', 'user_id'])
        .limit(options.limit);
      if (options.after !== undefined) {
        void members.whereRaw('(sort_name, user_id) > (?, ?)', [options.after.sortKey, options.after.userId]);
      }
      return members;
    },

    /** Returns false if the user is already a member. */
    async add({ userId, role, now }: { userId: number; role: MemberRole; now: Instant }): Promise<boolean> {
      const added = await query(db, {
        name: 'add-member',
        text: `insert into team_members (workspace_id, team_id, user_id, role, created_at, updated_at)
          values ($1, $2, $3, $4, $5, $5)
          on conflict (workspace_id, team_id, user_id) do nothing returning user_id`,
        values: [workspaceId, teamId, userId, role, now],
      });
      return added.length === 1;
    },

    async setRole(userId: number, { role, now }: { role: MemberRole; now: Instant }): Promise<void> {
      await query(db, {
        name: 'set-role-of-member',
        text: `update team_members set role = $4, updated_at = $5 where ${IS_MEMBER}`,
        values: [workspaceId, teamId, userId, role, now],
      });
    },

    /** Does nothing if the user is not a member. */
    async remove(userId: number): Promise<void> {
      await query(db, {
        name: 'remove-member',
        text: `delete from team_members where ${IS_MEMBER}`,
        values: [workspaceId, teamId, userId],
      });
    },
  };
}

/** The position of a membership in a list of those of several users. */
export type MembershipPosition = Pick<Membership, 'userId' | 'teamId'>;

/**
 * Returns the memberships of active users by user and team, starting after a position. Reads at most `limit` of each user.
 * @param options.userIds distinct
 */
export async function membershipsOf(
  db: Knex,
  options: { workspaceId: number; userIds: readonly number[]; limit: number; after: MembershipPosition | undefined },
): Promise<Membership[]> {
  const { workspaceId, userIds, limit, after = { userId: 0, teamId: 0 } } = options;
  return query<Membership>(db, {
    name: 'list-memberships',
    text: `
      select m.user_id as "userId", m.team_id as "teamId", t.name as "teamName", t.archived_at as "teamArchivedAt", m.role
        from unnest((select $2::bigint[])) as asked (id)
        join replica_users u on u.workspace_id = $1 and u.id = asked.id and u.active
       cross join lateral (
          select user_id, team_id, role from team_members
           where workspace_id = $1 and user_id = asked.id
             and team_id > case when asked.id = $3::bigint then $4::bigint else 0 end
           order by team_id limit $5) m
        join teams t on t.workspace_id = $1 and t.id = m.team_id
       where asked.id >= $3::bigint
       order by m.user_id, m.team_id limit $5`,
    values: [workspaceId, userIds, after.userId, after.teamId, limit],
  });
}

/** Returns the IDs of the teams that a user is a member of, archived ones included. */
export async function teamsOf(db: Knex, workspaceId: number, userId: number): Promise<number[]> {
  const rows = await query<{ id: number }>(db, {
    name: 'list-teams-of-user',
    text: 'select team_id as id from team_members where workspace_id = $1 and user_id = $2 order by team_id',
    values: [workspaceId, userId],
  });
  return rows.map(({ id }) => id);
}
