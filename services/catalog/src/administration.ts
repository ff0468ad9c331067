import type { EventWorkspace, NewServiceTiers } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { republishResources } from '@tocsin/versioned-resources';
import { systemClock } from '@tocsin/runtime';
import { sealedAddresses } from './store/on-call-store.ts';
import { addressCipher } from './usecases/on-call-addresses.ts';
import { prepareTiers, readStoredTiers, settleTiers } from './usecases/prepare-tiers.ts';
import { teamHierarchy } from './store/team-store.ts';
import { services } from './usecases/services.ts';
import { teams } from './usecases/teams.ts';

export { removeUnknownUsers } from './usecases/remove-unknown-users.ts';

/**
 * The service tiers of a workspace, for a change of its configuration (ADR 55). The caller raises the workspace's version
 * afterwards.
 */
export const serviceTiers = (database: Knex, workspaceId: number) => ({
  read: async () => readStoredTiers(database, workspaceId),
  prepare: async (list: Omit<NewServiceTiers, 'workspace_id'>) =>
    prepareTiers(database, { ...list, workspace_id: workspaceId }),
  /** Makes the prepared tiers apply, after the incident service's part was committed. */
  async settle(committed: number): Promise<void> {
    await settleTiers(database, { workspaceId, version: committed, committed });
  },
});

/** See `republishResources`. The running services announce the new version within seconds. */
export const republishCatalog = async (
  database: Knex,
  { workspace, seen }: { workspace: EventWorkspace; seen: number },
): Promise<number> =>
  database.transaction(async (trx) => {
    await teamHierarchy(trx, workspace.id).lock();
    return republishResources(trx, { workspace, seen, now: systemClock.now(), batch: 500, kinds: [teams, services] });
  });

/** Whether the database holds encrypted data, which only the configured secret keys can decrypt. */
export const holdsSecrets = async (database: Knex): Promise<boolean> => sealedAddresses(database).hasAny();

/** How many of the latest addresses of who is on call no key opens. */
export async function countUnopenedAddresses(
  database: Knex,
  { secretKeys, limit }: { secretKeys: string; limit: number },
): Promise<{ checked: number; unopened: number }> {
  const cipher = addressCipher(secretKeys);
  const stored = await sealedAddresses(database).latest(limit);
  return { checked: stored.length, unopened: stored.filter((each) => cipher.open(each) === undefined).length };
}
