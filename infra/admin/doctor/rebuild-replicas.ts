import { removeUnknownUsers, republishCatalog } from '../../../services/catalog/src/administration.ts';
import { republishFields } from '../../../services/custom-field/src/administration.ts';
import { UsageError } from '../../cli/src/operation-parameters.ts';
import type { Target } from '../target.ts';
import type { CheckedWorkspace } from './check.ts';
import { readReplicas } from './read-replicas.ts';
import { type ReplicaOwner, REPLICAS } from './replicas.ts';

/**
 * Makes an owner's data of a workspace newer than what anybody has seen, and publishes them again: the services replace
 * their copies by events, and the next request fetches what is missing, so no replica is empty meanwhile. Rows that only a
 * replica has are removed first: they may keep a slug taken that the owner has given to another row.
 * @returns the new version
 * @throws UsageError if Redis cannot be asked
 */
export async function rebuildReplicas(
  { database, env, gateway }: Target,
  { workspace, owner }: { workspace: CheckedWorkspace; owner: ReplicaOwner },
): Promise<number> {
  const { id: workspaceId } = workspace;
  const { states, redis } = await readReplicas({ database, env }, [workspaceId]);
  if (redis !== undefined) throw new UsageError(redis.message);
  const { seen = 0 } = states.find((state) => state.owner === owner) ?? {};
  const source = database(owner.app);
  for (const { holder, tables } of REPLICAS.filter((replica) => replica.owner === owner)) {
    for (const { table, source: name } of tables) {
      const rows = await source(name).where({ workspace_id: workspaceId }).select<{ id: number }[]>('id');
      const knownIds = rows.map(({ id }) => id);
      if (holder === 'catalog') await removeUnknownUsers(database('catalog'), { workspaceId, knownIds });
      else
        await database('incident')(table)
          .where({ workspace_id: workspaceId })
          .whereRaw('id <> all(?::bigint[])', [knownIds])
          .delete();
    }
  }
  if (owner.app === 'gateway') return gateway.republishUsers({ workspaceId, seen });
  return (owner.app === 'catalog' ? republishCatalog : republishFields)(source, { workspace, seen });
}
