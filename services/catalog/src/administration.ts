import { checkStorable, invalid, validate } from '@tocsin/http';
import { type Knex, versionStore } from '@tocsin/runtime';
import { z } from 'zod';
import type { ServiceTier } from './domain/tiers.ts';
import { configurationStore } from './store/configuration-store.ts';
import { serviceStore } from './store/service-store.ts';

const tier = z.strictObject({
  key: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'Must be lower-case letters, digits, hyphens and underscores, at most 64'),
  label: z.string().trim().min(1).max(128),
  is_default: z.boolean().default(false),
  description: z.string().trim().max(1_000).default(''),
});

/** The part of a workspace's configuration file that is this service's: the whole new list, in its order. */
const configurationPart = z.strictObject({ service_tiers: z.array(tier).min(1).max(100).optional() });

/** A change of a workspace's configuration that was found to be possible. */
export interface ConfigurationPlan {
  /** Makes the change, and answers the list that it made, as the file would say it. */
  apply(trx: Knex.Transaction): Promise<Record<string, unknown>>;
}

/**
 * Judges the part of a workspace's configuration that is this service's: `service_tiers` in rank order, one of them the
 * default (contract: Administration). Nothing is written before `apply`, so that several services' parts can be judged
 * first. Whoever applies it raises the workspace's version afterwards.
 * @throws DomainError `unknown_field` or `invalid_request` naming the place in the file, for a tier in use that would go too
 */
export async function planConfiguration(
  database: Knex,
  workspaceId: number,
  part: unknown,
): Promise<ConfigurationPlan> {
  checkStorable(part);
  const { service_tiers } = validate(configurationPart, part);
  if (service_tiers === undefined) return { apply: async () => ({}) };
  const tiers = service_tiers.map(({ is_default: isDefault, ...rest }, order) => ({ ...rest, order, isDefault }));
  checkTiers(tiers);
  await checkUse(database, workspaceId, tiers);
  return {
    async apply(trx) {
      // From here on nobody gives a service a tier, so the second look is the last word.
      await versionStore(trx, workspaceId).next();
      await checkUse(trx, workspaceId, tiers);
      await configurationStore(trx, workspaceId).replaceTiers(tiers);
      return { service_tiers };
    },
  };
}

function checkTiers(tiers: readonly ServiceTier[]): void {
  const keys = tiers.map(({ key }) => key);
  const repeated = keys.findIndex((key, index) => keys.indexOf(key) !== index);
  if (repeated !== -1) throw invalid(`service_tiers.${repeated}.key`, `The key ${keys[repeated] ?? ''} is there twice`);
  const defaults = tiers.filter(({ isDefault }) => isDefault).length;
  if (defaults !== 1) throw invalid('service_tiers', `Exactly one tier must be the default, not ${defaults}`);
}

async function checkUse(db: Knex, workspaceId: number, tiers: readonly ServiceTier[]): Promise<void> {
  const used = await serviceStore(db, workspaceId).findTierBeside(tiers.map(({ key }) => key));
  if (used === undefined) return;
  const services =
    used.count === 1 ? `the service ${used.slug} has it` : `${used.count} services have it, ${used.slug} among them`;
  throw invalid('service_tiers', `The tier ${used.tier} cannot go: ${services}`);
}
