import { afterCommit, type Logger, redisVersions, type Versions } from '@tocsin/runtime';
import { openRedis, redisReadiness, refuseRedisCluster } from '@tocsin/runtime/redis';
import type { ServiceClient } from './spec.ts';

/**
 * The store in which owners announce the versions of their data; a client of services that announce or read versions.
 */
export interface VersionsClient extends ServiceClient {
  readonly versions: Versions;
  /** Calls back after every connect, including the first: announcements before it may be lost. */
  onConnect(listener: () => void): void;
}

/** Returns the versions in Redis, or those of the overrides. */
export function openVersions(options: {
  config: { redisUrl: string; namespace: string };
  log: Logger;
  override: Versions | undefined;
}): VersionsClient {
  const { config, log, override } = options;
  if (override !== undefined) {
    return { versions: raisedAfterCommit(override), onConnect: (listener) => listener(), close: () => undefined };
  }
  const redis = openRedis({ url: config.redisUrl, namespace: config.namespace, log, sendsTogether: true });
  return {
    versions: raisedAfterCommit(redisVersions(redis)),
    onConnect: (listener) => {
      redis.on('ready', listener);
      if (redis.status === 'ready') listener();
    },
    readinessCheck: redisReadiness(redis),
    refuseUnusable: async () => refuseRedisCluster(redis),
    close: () => redis.disconnect(),
  };
}

/** A dry run announces nothing. */
const raisedAfterCommit = (versions: Versions): Versions => ({
  read: versions.read,
  raise: async (...values) => afterCommit(async () => versions.raise(...values)),
});
