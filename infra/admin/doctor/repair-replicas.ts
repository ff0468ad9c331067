import {
  completeUserReplica,
  readCatalogChanges,
  removeUnknownUsers,
  republishCatalog,
} from '../../../services/catalog/src/administration.ts';
import { readFieldChanges, republishFields } from '../../../services/custom-field/src/administration.ts';
import {
  type ChangeReaders,
  completeReplica,
  removeUnknownRows,
} from '../../../services/incident/src/administration.ts';
import type { CheckContext, CheckedWorkspace } from './check.ts';
import { OWNER_APPS, type ReplicaOwner, REPLICAS } from './replicas.ts';

/**
 * Makes an owner newer than what its replicas have seen, and the replicas equal to the owner. Rows that only a replica has
 * are removed first: they may keep a slug taken that the owner has given to another row.
 */
export async function resetReplicas(
  context: CheckContext,
  { workspace, owner, seen }: { workspace: CheckedWorkspace; owner: ReplicaOwner; seen: number },
): Promise<number> {
  const { database, target } = context;
  const workspaceId = workspace.id;
  const source = database(OWNER_APPS[owner]);
  for (const { holder, owner: replicated, tables } of REPLICAS) {
    if (replicated !== owner) continue;
    for (const { table, source: sourceTable } of tables) {
      const rows = await source(sourceTable).where({ workspace_id: workspaceId }).select<{ id: number }[]>('id');
      const knownIds = rows.map(({ id }) => id);
      if (holder === 'catalog') await removeUnknownUsers(database('catalog'), { workspaceId, knownIds });
      else await removeUnknownRows(database('incident'), { table, workspaceId, knownIds });
    }
  }
  const version =
    owner === 'users'
      ? await target.gateway.republishUsers({ workspaceId, seen })
      : await (owner === 'catalog' ? republishCatalog : republishFields)(source, { workspace, seen });
  await pullReplicas(context, { workspaceId, owner });
  return version;
}

/** Makes the existing replicas of an owner's data complete. */
export async function pullReplicas(
  { database, target }: CheckContext,
  { workspaceId, owner }: { workspaceId: number; owner: ReplicaOwner },
): Promise<void> {
  const { version } = await target.gateway.getWorkspaceById(workspaceId);
  const readers: ChangeReaders = {
    users: target.gateway.readUserChanges,
    catalog: async (from) => readCatalogChanges(database('catalog'), from),
    customFields: async (from) => readFieldChanges(database('custom-field'), from),
  };
  await completeReplica(database('incident'), { owner, workspace: { id: workspaceId, version }, readers });
  if (owner === 'users') {
    await completeUserReplica(database('catalog'), { workspaceId, userChanges: readers.users });
  }
}
