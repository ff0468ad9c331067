import type { Knex } from '@tocsin/postgres';
import type { Target } from '../target.ts';
import type { Finding } from './check.ts';
import { withDoctorRedis } from './redis.ts';
import { ownerOf, OWNERS, type Replica, type ReplicaOwner, REPLICAS } from './replicas.ts';

/** What is known of an owner's data of one workspace. */
export interface OwnerState {
  owner: ReplicaOwner;
  workspaceId: number;
  version: number;
  /** The number of rows and the sum of their versions. */
  rows: string;
  /** The highest version that anybody but the owner knows: in a replica, in one of its rows, or announced in Redis. */
  seen: number;
  /** The complete replicas. */
  copies: { holder: Replica['holder']; version: number; rows: string }[];
}

/**
 * Reads the replicas of some workspaces, then their owners: so an owner that is behind a replica really is behind, and has
 * not just been changed.
 * @returns also why the versions in Redis are not known
 */
export async function readReplicas(
  target: Pick<Target, 'env' | 'database'>,
  ids: readonly number[],
): Promise<{ states: OwnerState[]; redis: Finding | undefined }> {
  const { database } = target;
  const states = OWNERS.flatMap((owner) =>
    ids.map((workspaceId): OwnerState => ({ owner, workspaceId, version: 0, rows: NO_ROWS, seen: 0, copies: [] })),
  );
  const stateOf = (owner: ReplicaOwner, id: number) =>
    states[OWNERS.indexOf(owner) * ids.length + ids.indexOf(id)] as OwnerState;
  const see = (owner: ReplicaOwner, id: number, version: number): void => {
    const state = stateOf(owner, id);
    state.seen = Math.max(state.seen, version);
  };
  for (const { holder, owner, tables } of REPLICAS) {
    const rows = await sumRows(
      database(holder),
      tables.map(({ table }) => table),
      ids,
    );
    for (const [id, { highest }] of rows) see(owner, id, highest);
    const versions = database(holder)('replica_versions').whereIn('workspace_id', ids);
    // The catalog has no other replica, and does not keep the gateway's version of the workspace.
    const versionRows = await (holder === 'incident'
      ? versions
          .where({ owner: owner.as })
          .select<VersionRow[]>('workspace_id', 'version', 'position', 'workspace_version')
      : versions.select<VersionRow[]>('workspace_id', 'version', 'position'));
    for (const { workspace_id: id, version, position, workspace_version: workspaceVersion = 0 } of versionRows) {
      see(owner, id, version);
      see(ownerOf('gateway'), id, workspaceVersion);
      const copy = { holder, version, rows: rows.get(id)?.text ?? NO_ROWS };
      if (position === null) stateOf(owner, id).copies.push(copy);
    }
  }
  const outcome = await withDoctorRedis(target, async (redis) => {
    // The gateway has no need to announce its versions.
    for (const owner of OWNERS.filter(({ app }) => app !== 'gateway')) {
      const values = await redis.mget(ids.map((id) => `version:${owner.as}:${id}`));
      ids.forEach((id, index) => see(owner, id, Number(/^\d{1,15}$/.exec(values[index] ?? '') ?? 0)));
    }
  });
  for (const owner of OWNERS) {
    const db = database(owner.app);
    const { table, workspace: column } = owner.versions;
    const versions = await db(table)
      .whereIn(column, ids)
      .select<{ id: number; version: number }[]>(`${column} as id`, 'version');
    for (const { id, version } of versions) stateOf(owner, id).version = version;
    const sources = REPLICAS.find((replica) => replica.owner === owner)?.tables.map(({ source }) => source) ?? [];
    for (const [id, { text }] of await sumRows(db, sources, ids)) stateOf(owner, id).rows = text;
  }
  return { states, redis: outcome.kind === 'failed' ? outcome.finding : undefined };
}

interface VersionRow {
  workspace_id: number;
  version: number;
  position: string | null;
  workspace_version?: number;
}

const NO_ROWS = '0 rows';

async function sumRows(
  db: Knex,
  tables: readonly string[],
  ids: readonly number[],
): Promise<Map<number, { text: string; highest: number }>> {
  const all = tables.map((table) => `select workspace_id, version from ${table}`).join(' union all ');
  const { rows } = await db.raw<{ rows: { id: number; text: string; highest: number }[] }>(
    `select workspace_id as id, count(*) || ' rows, ' || sum(version) as text, max(version) as highest
     from (${all}) as copied where workspace_id = any(?::bigint[]) group by workspace_id`,
    [[...ids]],
  );
  return new Map(rows.map(({ id, ...sums }) => [id, sums]));
}
