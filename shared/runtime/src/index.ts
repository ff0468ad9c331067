export {
  brokerSettings,
  ConfigError,
  databaseSettings,
  type Environment,
  ownDatabaseUrl,
  processSettings,
  readConfig,
  redisSettings,
  setting,
  urlForRole,
} from './config.ts';
export { brokenConstraint, isDatabaseUnavailable, type Knex, named, openDatabase } from './database.ts';
export { databaseDependency, type Dependency, readiness, type Readiness } from './health.ts';
export { type Clock, type Instant, instantFromPostgres, later, systemClock } from './instant.ts';
export { generateSecretKeys, type Keyring, openKeyring, parseSecretKeys, type Sealed } from './keyring.ts';
export { type Dispatcher, type DispatcherOptions, startDispatcher } from './dispatcher.ts';
export { type App, describeStartFailure, type ReadyMessage, runProcess } from './lifecycle.ts';
export { createLogger, type Logger } from './logger.ts';
export { Counter, createMetrics, Gauge, Histogram, type Metrics } from './metrics.ts';
export { ensureDatabase, ensureOwner, migrate, type Owner } from './migrate.ts';
export { openRedis, type Redis, redisDependency } from './redis.ts';
export { type Sweep, startSweep } from './sweep.ts';
export { testReceiverSettings, testReceiversOf } from './test-receivers.ts';
export { versionStore } from './version-store.ts';
export { memoryVersions, redisVersions, type VersionedOwner, type Versions } from './versions.ts';
