import type { VersionedDependencies } from '@tocsin/resources';
import type { Clock } from '@tocsin/runtime';

/** What commands work with. */
export interface Dependencies extends VersionedDependencies {
  clock: Clock;
}
