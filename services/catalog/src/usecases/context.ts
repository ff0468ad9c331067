import type { CommandDependencies } from '@tocsin/versioned-resources';
import type { InternalServices } from '../clients/internal-services.ts';
import type { Configurations, CurrentTiers } from '../store/configuration-store.ts';
import type { OnCallDependencies } from './on-call.ts';
import type { UserReplica } from './user-replica.ts';

/** What commands work with. */
export interface Dependencies extends CommandDependencies, OnCallDependencies {
  configurations: Configurations;
  currentTiers: CurrentTiers;
  userReplica: UserReplica;
  internalServices: InternalServices;
}
