export { type BuildInfo, buildInfo, observeBuild, productVersion } from './build-info.ts';
export { boundedCache, ENTRY_BYTES, jsonBytes, latestVersionCache, type LatestVersionCache } from './caches.ts';
export { CHANGE_PAGE_LIMITS, type ChangesFrom, type ChangeSource, readChangePage } from './change-pages.ts';
export { createIndexConcurrently } from './concurrent-index.ts';
export {
  brokerSettings,
  ConfigError,
  databaseSettings,
  drainTimeOf,
  type Environment,
  ownDatabaseUrl,
  poolOptions,
  processSettings,
  readConfig,
  redisSettings,
  setting,
  urlForRole,
  withFileSettings,
} from './config.ts';
export {
  type BorrowedConnection,
  brokenConstraint,
  commitWith,
  type DatabaseOptions,
  isDatabaseStuck,
  type Knex,
  namesFirst,
  openDatabase,
  type PreparedStatement,
  preparesFirst,
  runOnce,
  runPrepared,
  runTogether,
  STATEMENT_SEPARATOR,
  withConnection,
} from './database.ts';
export { databaseFailure, isDatabaseUnavailable, isOutcomeUnknown } from './database-failure.ts';
export { observeDatabase } from './database-metrics.ts';
export { type FairShares, fairShares } from './fair-shares.ts';
export { databaseReadiness, type DatabaseReadiness, type ReadinessCheck, readiness, type Readiness } from './health.ts';
export { type Clock, type Instant, instantFromPostgres, addMilliseconds, systemClock } from './instant.ts';
export {
  deriveSecretKeys,
  generateSecretKeys,
  type Keyring,
  openKeyring,
  parseSecretKeys,
  type Sealed,
} from './keyring.ts';
export { findKnownSecretViolation } from './known-secrets.ts';
export { type Dispatcher, startDispatcher } from './dispatcher.ts';
export { type App, beforeExit, describeStartFailure, type ReadyMessage, runProcess } from './lifecycle.ts';
export { createLogger, type Logger } from './logger.ts';
export { Counter, createMetrics, Gauge, Histogram, type Metrics } from './metrics.ts';
export { listMigrations, migrate, type MigrationOptions, type SchemaOwner } from './migrate.ts';
export { listenForNotifications, type NotificationListener } from './notifications.ts';
export { openRedis, type Redis, redisReadiness } from './redis.ts';
export { ensureDatabase, ensureSchemaOwner } from './schema-owner.ts';
export { type PeriodicTask, startPeriodicTask } from './periodic-task.ts';
export { settleWithin } from './settle-within.ts';
export { sharedRuns } from './shared-runs.ts';
export {
  type Attributes,
  type Context,
  inSpan,
  markFailed,
  recordedSpan,
  requestSpan,
  type Span,
  type SpanSpec,
  startRequestSpan,
  startSpan,
  startSpanIn,
} from './spans.ts';
export { receiverSettings, testReceiversOf } from './receiver-settings.ts';
export {
  contextOfHeaders,
  contextOfStored,
  headersOfStored,
  isUntrusted,
  runInContext,
  storableTrace,
  type TraceHeaders,
  traceHeaders,
  traceLogFields,
  untrusted,
} from './trace-context.ts';
export { currentRequest, RequestWork, runForRequest, runInBackground, type ShareHolder } from './work-context.ts';
export { changedVersions, VERSION_GAP, versionStore, type WorkspaceVersion } from './version-store.ts';
export { memoryVersions, redisVersions, type VersionedOwner, type Versions } from './versions.ts';
