export { openBase, type ServiceBase, type ServiceParts } from './base.ts';
export { type ServiceConfig, serviceConfig, serviceSettings } from './config.ts';
export { runService } from './run-service.ts';
export type { ConsumerSpec, ServiceClient, ServiceSpec, ServiceWorker, SweepSpec } from './spec.ts';
export { openVersions, type VersionsClient } from './versions.ts';
