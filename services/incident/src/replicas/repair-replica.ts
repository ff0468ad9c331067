import type { CatalogChangePage, CustomFieldChangePage, UserChangePage } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
import type { ChangesFrom } from './clients/owners.ts';
import { type ReplicaOwner, replicaStore } from './store/replica-store.ts';
import { pullReplica } from './pull-replica.ts';

/** Reads the changes of an owner from the owner itself. */
export interface ChangeReaders {
  users(from: ChangesFrom): Promise<UserChangePage>;
  catalog(from: ChangesFrom): Promise<CatalogChangePage>;
  customFields(from: ChangesFrom): Promise<CustomFieldChangePage>;
}

/** The tables of the replicas. */
export type ReplicaTable = 'replica_users' | 'replica_teams' | 'replica_services' | 'replica_fields';

/**
 * Removes rows that their owner does not have. They remain in a replica after the owner's database was restored to an
 * earlier moment, and keep their slugs taken.
 */
export async function removeUnknownRows(
  database: Knex,
  { table, workspaceId, knownIds }: { table: ReplicaTable; workspaceId: number; knownIds: readonly number[] },
): Promise<void> {
  await replicaStore(database, workspaceId).removeExcept(table, knownIds);
}

/** Makes a replica complete, for an operator. */
export async function completeReplica(
  database: Knex,
  options: { owner: ReplicaOwner; workspace: { id: number; version: number }; readers: ChangeReaders },
): Promise<void> {
  const { owner, workspace, readers } = options;
  const owners = { ...readers, close: () => undefined };
  await pullReplica({ database, owners, owner, workspace, signal: new AbortController().signal });
}
