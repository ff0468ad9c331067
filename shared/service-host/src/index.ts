export { announceVersions } from './announce-versions.ts';
export { openBase, type ServiceBase, type ServiceOverrides } from './base.ts';
export { CONTRACT_LIMITS, retentionSettings, type ServiceConfig, serviceConfig, serviceSettings } from './config.ts';
export { pullPages, type PullPosition, type ReplicaPulls, replicaPulls, replicaSettings } from './replica-pulls.ts';
export { type RunningService, runService } from './run-service.ts';
export type { PeriodicTaskSpec, ServerSpec, ServiceClient, ServiceSpec, ServiceWorker } from './spec.ts';
export { openVersions, type VersionsClient } from './versions.ts';
