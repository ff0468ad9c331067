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
