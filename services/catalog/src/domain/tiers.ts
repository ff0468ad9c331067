import type { ConfiguredTier } from '@tocsin/schemas';
import { invalidRequest } from '@tocsin/http';

/** How important a service is, on the workspace's own scale (contract: Configuration). */
export interface ServiceTier {
  key: string;
  label: string;
  /** The rank, from 0. */
  order: number;
  isDefault: boolean;
  description: string;
}

/** The tiers of a workspace as this service stores them. */
export interface StoredTiers {
  /** Counts the lists that were prepared. */
  version: number;
  tiers: readonly ServiceTier[];
  /** Becomes `tiers` if, and only if, the incident service has committed this version; null if that is settled. */
  prepared: readonly ServiceTier[] | null;
}

/** Returns the tiers that apply. @param committed the version of the latest list that the incident service has committed */
export const settledTiers = ({ version, tiers, prepared }: StoredTiers, committed: number): readonly ServiceTier[] =>
  prepared !== null && committed >= version ? prepared : tiers;

export const tierToWire = ({ isDefault, ...tier }: ServiceTier): ConfiguredTier => ({ ...tier, is_default: isDefault });

export const tierFromWire = ({ is_default: isDefault, ...tier }: ConfiguredTier): ServiceTier => ({
  ...tier,
  isDefault,
});

/** The tiers of a workspace that has not configured its own. */
export const DEFAULT_TIERS: readonly ServiceTier[] = ['t0', 't1', 't2', 't3'].map((key, order) => ({
  key,
  label: `Tier ${order}`,
  order,
  isDefault: key === 't2',
  description: '',
}));

/**
 * Returns the tier with a key, or the default tier if `key` is undefined.
 * @throws DomainError `invalid_request` naming `tier` if no tier has the key
 */
export function getTier(tiers: readonly ServiceTier[], key: string | undefined): ServiceTier {
  const tier = tiers.find((candidate) => (key === undefined ? candidate.isDefault : candidate.key === key));
  if (tier === undefined)
    throw invalidRequest('tier', `Must be one of ${tiers.map((candidate) => candidate.key).join(', ')}`);
  return tier;
}
