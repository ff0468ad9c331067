import type { Envelope, EventData } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';

export type ErasedUser = Envelope<EventData<'user.erased'>>;

/** The users of whom all events from before their erasure have been recorded. */
export const erasedUsers = (db: Knex) => ({
  add: async (events: readonly ErasedUser[]): Promise<void> => {
    await query(db, {
      text: `insert into erased_users (workspace_id, user_id) 
        select workspace_id, user_id from unnest($1::bigint[], $2::bigint[]) as erased (workspace_id, user_id)
        on conflict do nothing`,
      values: [events.map(({ workspace }) => workspace.id), events.map(({ data }) => data.user.id)],
    });
  },

  has: async (workspaceId: number, userId: number): Promise<boolean> => {
    const rows = await query(db, {
      text: 'select user_id from erased_users where workspace_id = $1 and user_id = $2',
      values: [workspaceId, userId],
    });
    return rows.length > 0;
  },
});
