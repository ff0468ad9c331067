import type { VersionedDependencies } from '@tocsin/resources';
import type { Clock } from '@tocsin/runtime';
import type { InternalServices } from '../clients/internal-services.ts';
import type { Configurations, CurrentTiers } from '../store/configuration-store.ts';
import type { UserReplica } from './user-replica.ts';

/** What commands work with. */
export interface Dependencies extends VersionedDependencies {
  clock: Clock;
  configurations: Configurations;
  currentTiers: CurrentTiers;
  userReplica: UserReplica;
  internalServices: InternalServices;
}
