export { announceVersions } from './announce-versions.ts';
export { openBase, type ServiceOverrides } from './base.ts';
export { erasedName } from './erase-person.ts';
export { erasePersonalData, personalDataRoutes, type PersonalTables, readPersonalData } from './personal-data.ts';
export { pullPages, type ReplicaPulls, replicaPulls } from './replica-pulls.ts';
export { runService } from './run-service.ts';
export { sealAgain, type SealedPage, type SealingDependencies } from './seal-again.ts';
export type { PeriodicTaskSpec, ServiceClient, ServiceSpec, ServiceWorker } from './spec.ts';
export { openVersions } from './versions.ts';
