import { notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Member, MemberRole } from '../domain/member.ts';

/** The column of each property. */
const COLUMNS = {
  userId: 'user_id',
  name: 'name',
  email: 'email',
  role: 'role',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies Record<keyof Member, string>;

/** The position of a member in the list. */
export interface MemberPosition {
  sortKey: string;
  userId: number;
}

/**
 * The members of one team, over a pool or a transaction. The memberships of inactive users stay stored but are not returned
 * until the user is active again.
 */
export function memberStore(db: Knex, teamId: number) {
  const members = () => db('team_members').where({ team_id: teamId });
  const activeMembers = () =>
    members()
      .join('replica_users', 'replica_users.id', 'team_members.user_id')
      .where('active', true)
      .select<Member[]>(COLUMNS);
  return {
    /** @throws DomainError `not_found` */
    async get(userId: number): Promise<Member> {
      const [member] = await activeMembers().where({ user_id: userId });
      if (member === undefined) throw notFound('The member');
      return member;
    },

    /** Returns members by name, then ID, starting after a position. */
    async list(options: { limit: number; after: MemberPosition | undefined }): Promise<Member[]> {
      const query = activeMembers().orderBy(['sort_name', 'user_id']).limit(options.limit);
      if (options.after !== undefined) {
        void query.whereRaw('(sort_name, user_id) > (?, ?)', [options.after.sortKey, options.after.userId]);
      }
      return query;
    },

    /** Returns false if the user is already a member. */
    async add(member: { userId: number; role: MemberRole; now: Instant }): Promise<boolean> {
      const added = await db('team_members')
        .insert({
          team_id: teamId,
          user_id: member.userId,
          role: member.role,
          created_at: member.now,
          updated_at: member.now,
        })
        .onConflict(['team_id', 'user_id'])
        .ignore()
        .returning('user_id');
      return added.length === 1;
    },

    async setRole(userId: number, { role, now }: { role: MemberRole; now: Instant }): Promise<void> {
      await members().where({ user_id: userId }).update({ role, updated_at: now });
    },

    /** Does nothing if the user is not a member. */
    async remove(userId: number): Promise<void> {
      await members().where({ user_id: userId }).delete();
    },
  };
}
