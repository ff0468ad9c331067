import type { NewServiceTiers, StoredServiceTiers, TiersPreparation } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import type { ConfigurationLists } from '../configuration/domain/configuration-document.ts';
import { configurationChanges } from '../configuration/store/configuration-changes.ts';
import { findPostmortemTemplate, readConfiguration } from '../configuration/store/configuration-store.ts';
import { timelineGroupStore } from '../timeline/store/timeline-group-store.ts';

/** The service tiers as the catalog stores them. */
export type TierState = StoredServiceTiers;

/** The service tiers of one workspace, which the catalog stores (ADR 55). */
export interface TierOwner {
  read(): Promise<TierState>;
  /** Prepares a list that applies if, and only if, this service commits its version. */
  prepare(list: Omit<NewServiceTiers, 'workspace_id'>): Promise<TiersPreparation>;
}

export interface StoredConfiguration {
  lists: ConfigurationLists;
  /** Counts the changes of the configuration. */
  version: number;
  /** Of the latest list of service tiers that was committed. */
  tiersVersion: number;
}

/** Reads all lists of a workspace, in a transaction that sees one state of them. */
export async function readLists(trx: Knex, workspaceId: number, tiers: TierState): Promise<StoredConfiguration> {
  const { version, exchangeRates, ...configuration } = await readConfiguration(trx, workspaceId);
  const tiersVersion = await configurationChanges(trx, workspaceId).findTiersVersion();
  const lists = {
    ...configuration,
    exchangeRates: Object.fromEntries(exchangeRates),
    postmortemTemplate: await findPostmortemTemplate(trx, workspaceId),
    groups: await timelineGroupStore(trx, workspaceId).list(),
    tiers: tiers.prepared !== null && tiersVersion >= tiers.version ? tiers.prepared : tiers.tiers,
  };
  return { version, tiersVersion, lists };
}

/** Reads of the tiers before a configuration that is newer than they are: another one may be committed in between. */
const MAX_READS = 3;

/** Reads the configuration of a workspace with the service tiers that belong to it. */
export async function readWholeConfiguration(
  database: Knex,
  workspaceId: number,
  owner: TierOwner,
): Promise<StoredConfiguration> {
  for (let read = 1; ; read += 1) {
    const tiers = await owner.read();
    const stored = await database.transaction(async (trx) => readLists(trx, workspaceId, tiers), {
      isolationLevel: 'repeatable read',
      readOnly: true,
    });
    // After the catalog's database was restored to an earlier moment, they stay older, and apply.
    if (stored.tiersVersion <= tiers.version || read === MAX_READS) return stored;
  }
}
