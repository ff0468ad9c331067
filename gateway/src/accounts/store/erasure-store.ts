import type { DataPlace, DataPosition } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** A user who is forgotten. */
export interface Erasure {
  workspaceId: number;
  userId: number;
  requestedAt: Instant;
  completedAt: Instant | null;
  /** What the user was called; empty in the end. */
  names: readonly string[];
  /** In lower case; empty in the end. */
  emails: readonly string[];
  /** The workspace's version at which the user was erased. */
  version: number;
  /** The apps that have to erase the user, in order. */
  remaining: readonly string[];
  /** How far the first of them has come. */
  position: DataPosition | null;
  /** Texts that name the user. */
  places: readonly DataPlace[];
  hasMorePlaces: boolean;
}

/** The most places that are kept of an erasure. */
const MAX_PLACES = 1_000;

const SELECTION = `workspace_id as "workspaceId", user_id as "userId", requested_at as "requestedAt",
  completed_at as "completedAt", names, emails, version, remaining, position, places, has_more_places as "hasMorePlaces"`;

export const erasureStore = (db: Knex) => ({
  find: async (workspaceId: number, userId: number): Promise<Erasure | undefined> => {
    const [row] = await query<Erasure>(db, {
      name: 'find-erasure',
      text: `select ${SELECTION} from erasures where workspace_id = $1 and user_id = $2`,
      values: [workspaceId, userId],
    });
    return row;
  },

  isErased: async (workspaceId: number, userId: number): Promise<boolean> => {
    const rows = await query(db, {
      name: 'is-user-erased',
      text: 'select user_id from erasures where workspace_id = $1 and user_id = $2',
      values: [workspaceId, userId],
    });
    return rows.length > 0;
  },

  insert: async (
    erasure: Pick<Erasure, 'workspaceId' | 'userId' | 'requestedAt' | 'names' | 'emails' | 'version' | 'remaining'>,
  ): Promise<Erasure> => {
    const { workspaceId, userId, requestedAt, names, emails, version, remaining } = erasure;
    const [row] = await query<Erasure>(db, {
      text: `insert into erasures (workspace_id, user_id, requested_at, names, emails, version, remaining)
        values ($1, $2, $3, $4, $5, $6, $7) returning ${SELECTION}`,
      values: [workspaceId, userId, requestedAt, names, emails, version, remaining],
    });
    return row as Erasure;
  },

  /** The one that was requested first of those that are not complete. */
  next: async (): Promise<Erasure | undefined> => {
    const [row] = await query<Erasure>(db, {
      text: `select ${SELECTION} from erasures where completed_at is null order by requested_at limit 1`,
    });
    return row;
  },

  /** Stores how far an erasure has come, unless another process has gone on from the same place. */
  advance: async (
    { workspaceId, userId, remaining, position }: Erasure,
    next: Pick<Erasure, 'remaining' | 'position' | 'places'>,
    now: Instant,
  ): Promise<void> => {
    await query(db, {
      text: `update erasures set remaining = $5, position = $6::jsonb,
          places = (select coalesce(jsonb_agg(place), '[]') from (
            select place from jsonb_array_elements(places || $7::jsonb) as place limit ${MAX_PLACES}) as kept),
          has_more_places = has_more_places or jsonb_array_length(places || $7::jsonb) > ${MAX_PLACES},
          completed_at = case when $5::text[] = '{}' then $8::timestamptz end,
          names = case when $5::text[] = '{}' then '{}' else names end,
          emails = case when $5::text[] = '{}' then '{}' else emails end
        where workspace_id = $1 and user_id = $2 and remaining = $3 and position is not distinct from $4::jsonb`,
      values: [
        ...[workspaceId, userId, remaining, position && JSON.stringify(position)],
        ...[next.remaining, next.position && JSON.stringify(next.position), JSON.stringify(next.places), now],
      ],
    });
  },
});

/** What an installation knows of a user by other names than the present one. */
export const formerNames = (db: Knex) => ({
  /** The names and addresses that the audit log has of a user. */
  list: async (workspaceId: number, userId: number): Promise<{ name: string | null; email: string | null }[]> =>
    query(db, {
      text: `select distinct state ->> 'name' as name, state ->> 'email' as email
        from audit_log cross join lateral (values (before), (after)) as states (state)
        where workspace_id = $1 and target_type = 'user' and target_id = $2::text and state is not null limit 1000`,
      values: [workspaceId, userId],
    }),
});
