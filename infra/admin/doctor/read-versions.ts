import type { Knex } from '@tocsin/postgres';
import type { CheckContext, Finding } from './check.ts';
import { withDoctorRedis } from './redis.ts';
import { OWNER_APPS, type Replica, type ReplicaOwner, REPLICAS } from './replicas.ts';

interface OwnerState {
  version: number;
  /** Of the latest version. */
  changedAt: string;
}

interface ReplicaState {
  version: number;
  /** The gateway's version of the workspace at the last pull; undefined if the replica does not keep it. */
  workspaceVersion: number | undefined;
  isComplete: boolean;
}

/** What is known of some workspaces, by workspace. */
export interface BatchVersions {
  owners: ReadonlyMap<ReplicaOwner, ReadonlyMap<number, OwnerState>>;
  replicas: ReadonlyMap<Replica, ReadonlyMap<number, ReplicaState>>;
  /** The highest version that anybody but the owner knows: in a replica, in one of its rows, or announced in Redis. */
  seen: ReadonlyMap<ReplicaOwner, ReadonlyMap<number, number>>;
  /** Why announced versions are not known. */
  redis: Finding | undefined;
}

/**
 * Reads the versions of replicas, then those of the owners: so an owner that is behind a replica really is behind, and
 * has not just been changed.
 */
export async function readVersions(context: CheckContext, ids: readonly number[]): Promise<BatchVersions> {
  const seen = new Map<ReplicaOwner, Map<number, number>>();
  const see = (owner: ReplicaOwner, workspaceId: number, version: number): void => {
    const versions = seen.get(owner) ?? new Map<number, number>();
    versions.set(workspaceId, Math.max(version, versions.get(workspaceId) ?? 0));
    seen.set(owner, versions);
  };
  const replicas = new Map<Replica, Map<number, ReplicaState>>();
  for (const replica of REPLICAS) {
    const database = context.database(replica.holder);
    const states = await readReplica(database, replica, ids);
    replicas.set(replica, states);
    for (const [id, { version, workspaceVersion }] of states) {
      see(replica.owner, id, version);
      if (workspaceVersion !== undefined) see('users', id, workspaceVersion);
    }
    for (const { table } of replica.tables) {
      for (const { workspace_id, version } of await readHighest(database, table, ids)) {
        see(replica.owner, workspace_id, version);
      }
    }
  }
  const redis = await readAnnounced(context, ids, see);
  const owners = new Map<ReplicaOwner, Map<number, OwnerState>>();
  for (const owner of Object.keys(OWNER_APPS) as ReplicaOwner[]) {
    owners.set(owner, await readOwner(context.database(OWNER_APPS[owner]), owner, ids));
  }
  return { owners, replicas, seen, redis };
}

async function readReplica(
  database: Knex,
  { holder, owner }: Replica,
  ids: readonly number[],
): Promise<Map<number, ReplicaState>> {
  const query = database('replica_versions').whereIn('workspace_id', ids);
  const rows = await (holder === 'incident'
    ? query.where({ owner }).select('workspace_id', 'version', 'position', 'workspace_version')
    : query.select('workspace_id', 'version', 'position'));
  return new Map(
    (rows as { workspace_id: number; version: number; position: string | null; workspace_version?: number }[]).map(
      (row) => [
        row.workspace_id,
        { version: row.version, workspaceVersion: row.workspace_version, isComplete: row.position === null },
      ],
    ),
  );
}

const readHighest = async (database: Knex, table: string, ids: readonly number[]) =>
  database(table)
    .whereIn('workspace_id', ids)
    .groupBy('workspace_id')
    .select<{ workspace_id: number; version: number }[]>('workspace_id', database.raw('max(version) as version'));

async function readOwner(
  database: Knex,
  owner: ReplicaOwner,
  ids: readonly number[],
): Promise<Map<number, OwnerState>> {
  const rows: { workspace_id: number; version: number; changed_at: string }[] =
    owner === 'users'
      ? await database('workspaces as w')
          .whereIn('w.id', ids)
          .select(
            'w.id as workspace_id',
            'w.version',
            database.raw(
              `greatest(w.updated_at, (select max(updated_at) from users u where u.workspace_id = w.id)) as changed_at`,
            ),
          )
      : await database('workspace_versions')
          .whereIn('workspace_id', ids)
          .select('workspace_id', 'version', 'changed_at');
  return new Map(rows.map((row) => [row.workspace_id, { version: row.version, changedAt: row.changed_at }]));
}

async function readAnnounced(
  context: CheckContext,
  ids: readonly number[],
  see: (owner: ReplicaOwner, workspaceId: number, version: number) => void,
): Promise<Finding | undefined> {
  const outcome = await withDoctorRedis(context, async (redis) => {
    for (const owner of ['catalog', 'custom_field'] as const) {
      const values = await redis.mget(ids.map((id) => `version:${owner}:${id}`));
      ids.forEach((id, index) => {
        const value = values[index];
        if (value !== null && value !== undefined && /^\d{1,15}$/.test(value)) see(owner, id, Number(value));
      });
    }
  });
  return outcome.kind === 'failed' ? outcome.finding : undefined;
}
