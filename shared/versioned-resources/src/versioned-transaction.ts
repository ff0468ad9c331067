import { type Knex, versionStore } from '@tocsin/postgres';
import type { Logger, VersionedOwner, Versions } from '@tocsin/runtime';
import type { Caller } from './caller.ts';

/** What changes of versioned data need. */
export interface VersionedDependencies {
  /** Whose data the versions count. */
  owner: VersionedOwner;
  database: Knex;
  versions: Versions;
  log: Logger;
  /** Publishes at once what a commit left in the outbox. */
  wakeRelay: () => void;
}

/** A transaction that changes the data of the caller's workspace. */
export interface VersionedTransaction {
  trx: Knex.Transaction;
  /**
   * Raises the workspace's version and returns it, to be written to the changed row. Call it once, after taking every other
   * lock and before writing the row: from then on the workspace's other changes wait.
   */
  nextVersion(): Promise<number>;
}

/**
 * Runs a command's transaction. If it raised the version, the version is published after the commit and before the response,
 * so that a replica that serves a later request knows that it is behind.
 */
export async function runVersionedTransaction<Result>(
  dependencies: VersionedDependencies,
  { principal }: Caller,
  work: (transaction: VersionedTransaction) => Promise<Result>,
): Promise<Result> {
  const workspaceId = principal.workspace.id;
  let version: number | undefined;
  const result = await dependencies.database.transaction(async (trx) =>
    work({ trx, nextVersion: async () => (version = await versionStore(trx, workspaceId).next()) }),
  );
  if (version !== undefined) {
    dependencies.wakeRelay();
    await raiseVersion(dependencies, { workspaceId, version });
  }
  return result;
}

/**
 * Publishes a version to the replicas. A failure is only logged: `announceVersions` retries within seconds, and a replica
 * asks the owner before it refuses a request.
 */
export async function raiseVersion(
  { owner, versions, log }: Pick<VersionedDependencies, 'owner' | 'versions' | 'log'>,
  { workspaceId, version }: { workspaceId: number; version: number },
): Promise<void> {
  try {
    await versions.raise(owner, workspaceId, version);
  } catch (error) {
    log.warn({ err: error, workspace: workspaceId }, 'cannot publish the version of the workspace; it is retried');
  }
}
