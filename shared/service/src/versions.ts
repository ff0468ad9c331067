import { type Logger, openRedis, redisDependency, redisVersions, type Versions } from '@tocsin/runtime';
import type { ServiceClient } from './spec.ts';

/** Where owners announce the versions of their data; one of the clients of a service that announces or reads them. */
export interface VersionsClient extends ServiceClient {
  readonly versions: Versions;
}

/** The versions in Redis, unless a caller brought others. */
export function openVersions(options: {
  config: { redisUrl: string; namespace: string };
  log: Logger;
  brought: Versions | undefined;
}): VersionsClient {
  const { config, log, brought } = options;
  if (brought !== undefined) return { versions: brought, close: () => undefined };
  const redis = openRedis({ url: config.redisUrl, namespace: config.namespace, log });
  return { versions: redisVersions(redis), dependency: redisDependency(redis), close: () => redis.disconnect() };
}
