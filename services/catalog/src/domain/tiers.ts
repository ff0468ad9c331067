import { invalid } from '@tocsin/http';

/** How much depends on a service: a workspace's own scale (contract: Configuration). */
export interface ServiceTier {
  key: string;
  label: string;
  /** Its rank, from 0. */
  order: number;
  isDefault: boolean;
  description: string;
}

/** What a workspace has until it is configured otherwise. */
export const DEFAULT_TIERS: readonly ServiceTier[] = ['t0', 't1', 't2', 't3'].map((key, order) => ({
  key,
  label: `Tier ${order}`,
  order,
  isDefault: key === 't2',
  description: '',
}));

/** The configured tier, the default one when `key` is undefined. @throws DomainError `invalid_request` naming `tier` */
export function chooseTier(tiers: readonly ServiceTier[], key: string | undefined): ServiceTier {
  const tier = tiers.find((candidate) => (key === undefined ? candidate.isDefault : candidate.key === key));
  if (tier === undefined) throw invalid('tier', `Must be one of ${tiers.map((candidate) => candidate.key).join(', ')}`);
  return tier;
}
