import type { UserSnapshot } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import type { Candidate, Shift } from '../domain/on-call.ts';
import { sortKeyOf } from '../domain/sort-key.ts';

export interface UserReplicaVersion {
  /** The replica has all changes up to this version. */
  version: number;
  /** Where a pull that is not complete continues; null after a complete one. */
  position: string | null;
}

/** A user and the version of the workspace at which the user was so. */
export interface VersionedUser {
  version: number;
  user: UserSnapshot;
}

/** The version of the replica of one workspace's users, over a pool or a transaction. */
export function userVersionStore(db: Knex, workspaceId: number) {
  return {
    /** Returns `undefined` before the first pull. */
    async find(): Promise<UserReplicaVersion | undefined> {
      const [row] = await query<UserReplicaVersion>(db, {
        name: 'find-replica-version',
        text: 'select version, position from replica_versions where workspace_id = $1',
        values: [workspaceId],
      });
      return row;
    },

    /** Raises the version after a page. Never lowers it: two pulls may end in either order. */
    async raise({ version, position }: UserReplicaVersion): Promise<void> {
      await query(db, {
        name: 'raise-replica-version',
        text: `insert into replica_versions (workspace_id, version, position) values ($1, $2, $3)
          on conflict (workspace_id) do update set
            version = greatest(replica_versions.version, excluded.version),
            position = case when excluded.version >= replica_versions.version then excluded.position
              else replica_versions.position end`,
        values: [workspaceId, version, position],
      });
    },

    /** Raises the version after one event. Does nothing if earlier changes are still missing. */
    async raiseIfNext(version: number): Promise<void> {
      await query(db, {
        name: 'raise-replica-version-if-next',
        text: 'update replica_versions set version = $2 where workspace_id = $1 and version = $2 - 1',
        values: [workspaceId, version],
      });
    },
  };
}

/** Users who may be those of some shifts; with more, a name is in everything. */
const MAX_CANDIDATES = 1_000;

/** The replica of the gateway's users of one workspace, over a pool or a transaction. */
export function userStore(db: Knex, workspaceId: number) {
  return {
    /**
     * Writes users; those that are stored with a later version stay unchanged. Returns the IDs of those that were not stored
     * or whose activity differs. The users stay locked until the transaction ends.
     */
    async upsert(users: readonly VersionedUser[]): Promise<number[]> {
      const ids = users.map(({ user }) => user.id);
      const lockedUsers = await query<{ id: number; active: boolean }>(db, {
        name: 'lock-users',
        text: `select id, active from replica_users
          where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])
          order by id for update`,
        values: [workspaceId, ids],
      });
      const wasActive = new Map(lockedUsers.map(({ id, active }) => [id, active]));
      await query(db, {
        name: 'put-users',
        text: `insert into replica_users (id, workspace_id, email, name, sort_name, active, version)
          select id, $1::bigint, email, name, sort_name, active, version
          from unnest((select $2::bigint[]), (select $3::text[]), (select $4::text[]), (select $5::text[]),
              (select $6::boolean[]), (select $7::bigint[]))
            as put (id, email, name, sort_name, active, version)
          on conflict (workspace_id, id) do update set email = excluded.email,
            name = excluded.name, sort_name = excluded.sort_name, active = excluded.active, version = excluded.version
          where replica_users.version <= excluded.version`,
        values: [
          workspaceId,
          ids,
          users.map(({ user }) => user.email),
          users.map(({ user }) => user.name),
          users.map(({ user }) => sortKeyOf(user.name)),
          users.map(({ user }) => user.active),
          users.map(({ version }) => version),
        ],
      });
      return users.flatMap(({ user: { id, active } }) => (wasActive.get(id) === active ? [] : id));
    },

    /** Removes the users that are not among these, and returns their IDs. */
    async removeExcept(ids: readonly number[]): Promise<number[]> {
      const removed = await query<{ id: number }>(db, {
        text: `delete from replica_users where workspace_id = $1 and id <> all((select $2::bigint[])::bigint[])
          returning id`,
        values: [workspaceId, ids],
      });
      return removed.map(({ id }) => id);
    },

    /** Returns the active users who may be those of shifts: their email address or their name is in one. */
    async findNamedIn(shifts: readonly Pick<Shift, 'name' | 'emails'>[]): Promise<Candidate[]> {
      return query<Candidate>(db, {
        name: 'find-users-named-in',
        text: `select id, name, email from replica_users where workspace_id = $1 and active
            and (lower(email) = any((select $2::text[])::text[])
              or exists (select from unnest((select $3::text[])) as shift (name) where position(sort_name in shift.name) > 0))
          order by id limit ${MAX_CANDIDATES}`,
        values: [
          workspaceId,
          shifts.flatMap(({ emails }) => emails.map((email) => email.toLowerCase())),
          shifts.map(({ name }) => sortKeyOf(name)),
        ],
      });
    },

    /** Returns whether the user is active, and keeps that until the transaction ends. Take this lock before that of a team. */
    async lockActive(id: number): Promise<boolean> {
      const rows = await query(db, {
        name: 'lock-active-user',
        text: 'select id from replica_users where workspace_id = $1 and id = $2 and active for share',
        values: [workspaceId, id],
      });
      return rows.length > 0;
    },
  };
}

/** The version at which a user is as it is stored. */
export async function userVersion(db: Knex, workspaceId: number, id: number): Promise<number | undefined> {
  const [row] = await query<{ version: number }>(db, {
    text: 'select version from replica_users where workspace_id = $1 and id = $2',
    values: [workspaceId, id],
  });
  return row?.version;
}
