import { checkStorable, invalidRequest, validate } from '@tocsin/http';
import type { CatalogChangePage, EventWorkspace } from '@tocsin/contracts';
import { checkListOrder } from '@tocsin/resources';
import { type ChangesFrom, type Knex, versionStore } from '@tocsin/postgres';
import { createLogger, memoryVersions, systemClock } from '@tocsin/runtime';
import { z } from 'zod';
import type { ServiceTier } from './domain/tiers.ts';
import { configurationStore } from './store/configuration-store.ts';
import { serviceStore } from './store/service-store.ts';
import { readCatalogChangePage } from './usecases/read-changes.ts';
import { republish } from './usecases/republish.ts';

export { completeUserReplica, removeUnknownUsers } from './usecases/repair-user-replica.ts';

const tier = z.strictObject({
  key: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'Must be lower-case letters, digits, hyphens and underscores, at most 64'),
  label: z.string().trim().min(1).max(128),
  /** What the API shows and the list itself decides. */
  order: z.int().optional(),
  is_default: z.boolean().default(false),
  description: z.string().trim().max(1_000).default(''),
});

/** The part of a workspace's configuration file that belongs to this service: the complete new list, in rank order. */
const configurationPart = z.strictObject({ service_tiers: z.array(tier).min(1).max(100).optional() });

/** A valid change of a workspace's configuration. */
export interface ConfigurationPlan {
  /** Applies the change and returns the new list in the format of the file. */
  apply(trx: Knex.Transaction): Promise<Record<string, unknown>>;
}

/**
 * Validates this service's part of a workspace's configuration: `service_tiers` in rank order, exactly one of them the
 * default (contract: Administration). Writes nothing before `apply`, so that the parts of several services can be validated
 * first. The caller of `apply` raises the workspace's version afterwards.
 * @throws DomainError `unknown_field` or `invalid_request` naming the place in the file; also if a tier that a service has
 *   would be removed
 */
export async function planConfiguration(
  database: Knex,
  workspaceId: number,
  part: unknown,
): Promise<ConfigurationPlan> {
  checkStorable(part);
  const { service_tiers } = validate(configurationPart, part);
  if (service_tiers === undefined) return { apply: async () => ({}) };
  checkListOrder('service_tiers', service_tiers);
  const tiers = service_tiers.map(({ is_default: isDefault, ...rest }, order) => ({ ...rest, order, isDefault }));
  checkTiers(tiers);
  await checkRemovedTiers(database, workspaceId, tiers);
  return {
    async apply(trx) {
      // The version's lock keeps other transactions from giving a service a tier, so this check is final.
      await versionStore(trx, workspaceId).next();
      await checkRemovedTiers(trx, workspaceId, tiers);
      await configurationStore(trx, workspaceId).replaceTiers(tiers);
      return { service_tiers };
    },
  };
}

/** See `republish`. The running services announce the new version within seconds. */
export const republishCatalog = async (
  database: Knex,
  options: { workspace: EventWorkspace; seen: number },
): Promise<number> => database.transaction(async (trx) => republish(trx, { ...options, now: systemClock.now() }));

/** Reads a page of changes for a replica, as the internal API returns it. */
export const readCatalogChanges = async (database: Knex, from: ChangesFrom): Promise<CatalogChangePage> =>
  readCatalogChangePage(
    { database, owner: 'catalog', versions: memoryVersions(), log: createLogger({ app: 'admin', level: 'silent' }) },
    from,
  );

function checkTiers(tiers: readonly ServiceTier[]): void {
  const keys = tiers.map(({ key }) => key);
  const repeated = keys.findIndex((key, index) => keys.indexOf(key) !== index);
  if (repeated !== -1)
    throw invalidRequest(`service_tiers.${repeated}.key`, `The key ${keys[repeated] ?? ''} is used more than once`);
  const defaults = tiers.filter(({ isDefault }) => isDefault).length;
  if (defaults !== 1) throw invalidRequest('service_tiers', `Exactly one tier must be the default, not ${defaults}`);
}

async function checkRemovedTiers(db: Knex, workspaceId: number, tiers: readonly ServiceTier[]): Promise<void> {
  const used = await serviceStore(db, workspaceId).findTierInUseExcept(tiers.map(({ key }) => key));
  if (used === undefined) return;
  const services =
    used.count === 1 ? `the service ${used.slug} has it` : `${used.count} services have it, for example ${used.slug}`;
  throw invalidRequest('service_tiers', `The tier ${used.tier} cannot be removed: ${services}`);
}
