import { type Knex, versionStore } from '@tocsin/runtime';
import { announceVersion } from './announce-version.ts';
import type { Caller, Tools } from './context.ts';

/** A change of one workspace's catalog under way. */
export interface Change {
  trx: Knex.Transaction;
  /**
   * The version to stamp the changed row with. To be asked for once, after every other lock is had and before the row is
   * written: from then on the workspace's other changes wait.
   */
  nextVersion(): Promise<number>;
}

/**
 * Runs a command's transaction. Once it has committed, and before anybody is answered, its version is announced: a replica that
 * is asked afterwards knows that it is behind.
 */
export async function change<Result>(
  tools: Tools,
  { principal }: Caller,
  work: (change: Change) => Promise<Result>,
): Promise<Result> {
  const workspaceId = principal.workspace.id;
  let version: number | undefined;
  const result = await tools.database.transaction(async (trx) =>
    work({ trx, nextVersion: async () => (version = await versionStore(trx, workspaceId).next()) }),
  );
  if (version !== undefined) {
    tools.wakeRelay();
    await announceVersion(tools, { workspaceId, version });
  }
  return result;
}
