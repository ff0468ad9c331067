export { type BuildInfo, buildInfo, observeBuild, productVersion } from './build-info.ts';
export { boundedCache, ENTRY_BYTES, estimateHeapBytes, latestVersionCache } from './caches.ts';
export { brokerSettings, drainTimeOf, processSettings, readConfig, redisSettings, setting } from './config.ts';
export { ConfigError } from './config-error.ts';
export type { DryRun } from './dry-run.ts';
export { type DueWork, dueWork } from './due-work.ts';
export { afterCommit, currentDryRun, inOwnDryRun, outsideDryRun, runDry } from './run-dry.ts';
export { type Environment, withFileSettings } from './file-settings.ts';
export { FairQueue, type Lease, LimitReached, type Limits, type TakeOptions } from './fair-queue.ts';
export { changeUrl, Hosts, urlsOfHosts } from './hosts.ts';
export { type ReadinessCheck, readiness, type Readiness } from './health.ts';
export { type Clock, type Instant, addMilliseconds, systemClock } from './instant.ts';
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
export { isTimeZone, knownTimeZone, localTime, momentsOf, startOfDay, TIME_ZONE_NAME, UTC } from './time-zone.ts';
export { workerThread } from './worker-thread.ts';
export { workspaceUrl } from './public-url.ts';
export { entriesOf, ownProperty } from './own-properties.ts';
export { type PeriodicTask, startPeriodicTask } from './periodic-task.ts';
export { mapInParts } from './map-in-parts.ts';
export { withTimeout } from './with-timeout.ts';
export { coalesceCalls } from './coalesce-calls.ts';
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
export {
  currentRequest,
  isInTransaction,
  RequestWork,
  type RequestWorkOptions,
  runForRequest,
  runInBackground,
  runInTransaction,
  type LeaseHolder,
} from './work-context.ts';
export { memoryVersions, redisVersions, type VersionedOwner, type Versions } from './versions.ts';
