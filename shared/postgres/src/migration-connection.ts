/**
 * Of every connection for migrations. A server that has vanished is noticed within fifteen seconds, however long its
 * statement takes.
 */
export const MIGRATION_CONNECTION = {
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  application_name: 'tocsin-migrate',
};
