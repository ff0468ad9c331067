export { type ChangesFrom, type ChangeSource, readChangePage } from './change-pages.ts';
export { connectionOf, connectionProblem } from './connection-url.ts';
export { UnusableSession } from './database-call-error.ts';
export { databaseHosts } from './database-hosts.ts';
export {
  /** @public for the migrations of later releases */
  createIndexConcurrently,
} from './concurrent-index.ts';
export {
  brokenConstraint,
  type DatabaseOptions,
  isDatabaseStuck,
  type Knex,
  openDatabase,
  pipeline,
  query,
  refuseUnusableSession,
  type Statement,
} from './database.ts';
export { databaseFailure, isDatabaseUnavailable, isOutcomeUnknown } from './database-failure.ts';
export { observeDatabase } from './database-metrics.ts';
export { databaseReadiness, type DatabaseReadiness } from './database-readiness.ts';
export { databaseSettings, ownDatabaseUrl, poolOptions, roleOf, urlForRole } from './database-settings.ts';
export { listMigrations, migrate, type MigrationOptions } from './migrate.ts';
export { openMigrationSession } from './migration-connection.ts';
export { newId } from './new-id.ts';
export { listenForNotifications, type NotificationListener } from './notifications.ts';
export { openSession } from './session.ts';
export { MEANING } from './session-settings.ts';
export { setRoleSettings } from './transaction-pooling.ts';
export { ensureDatabase, ensureSchemaOwner, maintenanceUrl } from './schema-owner.ts';
export { changedVersions, VERSION_GAP, versionStore } from './version-store.ts';
export { addWorkspaceKey, belongsTo } from './workspace-tables.ts';
