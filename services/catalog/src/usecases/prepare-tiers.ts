import { jsonEqual } from '@tocsin/http';
import type { NewServiceTiers, StoredServiceTiers, TiersPreparation } from '@tocsin/schemas';
import { type Knex, versionStore } from '@tocsin/postgres';
import { settledTiers, tierFromWire, tierToWire } from '../domain/tiers.ts';
import { configurationStore } from '../store/configuration-store.ts';
import { serviceStore } from '../store/service-store.ts';

export async function readStoredTiers(database: Knex, workspaceId: number): Promise<StoredServiceTiers> {
  const { version, tiers, prepared } = await configurationStore(database, workspaceId).read();
  return { version, tiers: tiers.map(tierToWire), prepared: prepared?.map(tierToWire) ?? null };
}

/**
 * Prepares a list of tiers that becomes the workspace's when the incident service commits it with its configuration
 * (ADR 55). Until that is settled, no service gets a tier.
 */
export const prepareTiers = async (database: Knex, list: NewServiceTiers): Promise<TiersPreparation> =>
  database.transaction(async (trx) => {
    const { workspace_id: workspaceId, version } = list;
    const store = configurationStore(trx, workspaceId);
    const requested = list.tiers.map(tierFromWire);
    // The version's lock keeps other transactions from giving a service a tier, so the check is final.
    await versionStore(trx, workspaceId).next();
    const stored = await store.read();
    // The call has arrived twice.
    if (stored.version === version && jsonEqual(stored.prepared, requested)) return { outcome: 'prepared' };
    if (stored.version !== list.read_version) return { outcome: 'changed_since' };
    const services = await serviceStore(trx, workspaceId).countTiersExcept(requested.map(({ key }) => key));
    if (services.length > 0) return { outcome: 'in_use', services };
    await store.write({ version, tiers: settledTiers(stored, list.committed_version), prepared: requested });
    return { outcome: 'prepared' };
  });

/** Makes the prepared tiers the workspace's, or removes them. @returns the new version of the catalog, if something changed */
export const settleTiers = async (
  database: Knex,
  { workspaceId, version, committed }: { workspaceId: number; version: number; committed: number },
): Promise<number | undefined> =>
  database.transaction(async (trx) => {
    const raised = await versionStore(trx, workspaceId).next();
    const store = configurationStore(trx, workspaceId);
    const stored = await store.read();
    // Later ones may have been prepared since.
    if (stored.prepared === null || stored.version !== version) return undefined;
    await store.write({ version, tiers: settledTiers(stored, committed), prepared: null });
    return raised;
  });
