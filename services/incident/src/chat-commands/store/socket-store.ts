import { type Knex, query } from '@tocsin/postgres';

/** Milliseconds that a lease lasts without news of its holder. */
export const SOCKET_LEASE = 60_000;

const UNTIL = `now() + interval '${SOCKET_LEASE} milliseconds'`;

/**
 * Leases of the sockets over which workspaces receive commands, by the database's clock.
 * @param holder identifies this process
 */
export const socketStore = (db: Knex, holder: string) => ({
  /** Takes up to `limit` sockets that nobody holds. Returns their workspaces. */
  claim: async (limit: number): Promise<number[]> =>
    idsOf(
      query(db, {
        name: 'claim-chat-sockets',
        text: `update chat_connections set socket_holder = $1, socket_until = ${UNTIL}
          where workspace_id in (
            select workspace_id from chat_connections
            where app_token_ciphertext is not null and (socket_until is null or socket_until <= now())
            order by workspace_id limit $2 for update skip locked)
          returning workspace_id as id`,
        values: [holder, limit],
      }),
    ),

  /** Returns those workspaces whose socket this process still holds, from now on for another time. */
  renew: async (workspaceIds: readonly number[]): Promise<number[]> =>
    idsOf(
      query(db, {
        name: 'renew-chat-sockets',
        text: `update chat_connections set socket_until = ${UNTIL}
          where workspace_id = any((select $2::bigint[])::bigint[]) and socket_holder = $1 and socket_until > now()
          returning workspace_id as id`,
        values: [holder, workspaceIds],
      }),
    ),

  release: async (workspaceIds: readonly number[]): Promise<void> => {
    await query(db, {
      name: 'release-chat-sockets',
      text: `update chat_connections set socket_holder = null, socket_until = null
        where workspace_id = any((select $2::bigint[])::bigint[]) and socket_holder = $1`,
      values: [holder, workspaceIds],
    });
  },
});

const idsOf = async (rows: Promise<{ id: number }[]>): Promise<number[]> => (await rows).map(({ id }) => id);
