import { serviceUnavailable } from '@tocsin/http';
import { raiseVersion, type VersionedDependencies } from '@tocsin/versioned-resources';
import type { InternalServices } from '../clients/internal-services.ts';
import { configurationStore, type CurrentTiers, UnsettledTiers } from '../store/configuration-store.ts';
import { settleTiers } from './prepare-tiers.ts';

type TierDependencies = Pick<VersionedDependencies, 'database' | 'owner' | 'versions' | 'log'> & {
  internalServices: Pick<InternalServices, 'committedTiers'>;
};

/** Reads the tiers of a workspace, after it has settled whether prepared ones apply. */
export const currentTiers =
  (dependencies: TierDependencies): CurrentTiers =>
  async (workspaceId) => {
    const { database, log } = dependencies;
    const stored = await configurationStore(database, workspaceId).read();
    if (stored.prepared === null) return { tiers: stored.tiers, isSettled: true };
    try {
      await settle(dependencies, { workspaceId, version: stored.version });
    } catch (error) {
      log.warn({ err: error, workspace: workspaceId }, 'cannot settle the service tiers; the stored ones apply');
    }
    const { tiers, prepared } = await configurationStore(database, workspaceId).read();
    return { tiers, isSettled: prepared === null };
  };

/** Attempts of a command that finds prepared tiers each time. */
const MAX_ATTEMPTS = 3;

/**
 * Runs a command that gives a service a tier, and again after prepared tiers are settled. `work` must have no effect if it
 * throws `UnsettledTiers`.
 * @throws DomainError `service_unavailable` if the incident service does not say whether they apply
 */
export async function withSettledTiers<Result>(
  dependencies: TierDependencies,
  workspaceId: number,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnsettledTiers)) throw error;
      const isSettled = attempt < MAX_ATTEMPTS && (await currentTiers(dependencies)(workspaceId)).isSettled;
      if (!isSettled) throw serviceUnavailable('The service tiers of the workspace are changing; try again');
    }
  }
}

/** The incident service responds after a transaction that may commit the prepared tiers has ended. */
async function settle(
  dependencies: TierDependencies,
  { workspaceId, version }: { workspaceId: number; version: number },
): Promise<void> {
  const committed = await dependencies.internalServices.committedTiers(workspaceId);
  const raised = await settleTiers(dependencies.database, { workspaceId, version, committed });
  if (raised !== undefined) await raiseVersion(dependencies, { workspaceId, version: raised });
}
