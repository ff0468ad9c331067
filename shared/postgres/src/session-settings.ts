import pg from 'pg';

/** Milliseconds of silence before the system asks whether the other side of a connection is still there. */
export const KEEPALIVE_DELAY = 5_000;

/**
 * The settings of PostgreSQL that decide what a statement means, what it returns, whether it lasts, and whether it fails.
 * Server, database, role and pooler may have set each of them to anything, so each session sets all of them.
 */
export const MEANING = {
  // The text of values.
  client_encoding: 'UTF8',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  // What a statement means.
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
  gin_fuzzy_search_limit: '0',
  // A policy makes a statement fail that it would hide rows from.
  row_security: 'off',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // What was answered lasts.
  synchronous_commit: 'on',
  // An error ends the statement, and not the session; neither does waiting for the next one.
  exit_on_error: 'off',
  idle_session_timeout: '0',
  transaction_timeout: '0',
  lock_timeout: '0',
};

/** What only costs time is left to the operator, except this. */
const TUNING = {
  // Statements are short and their data is mostly in memory: a random page costs little more than a sequential one, and
  // JIT compilation and parallel workers cost more than they save.
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  // So that the server ends sessions of a client that has vanished: after 45 seconds.
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '45000',
};

/** What an ordinary role cannot set, and must find so. */
export const REQUIRED: Readonly<Record<string, string>> = {
  server_encoding: 'UTF8',
  // Otherwise foreign keys are not enforced.
  session_replication_role: 'origin',
};

/** Values of `synchronous_commit` that are left: all of them wait for the own disk, and some for replicas. */
export const DURABLE = ['local', 'remote_write', 'remote_apply'];

/** Milliseconds in which a transaction of a pool may wait for its next statement. */
export const IDLE_TRANSACTION_TIMEOUT = 30_000;

/** How a session is opened on a host. */
export interface HostConfig extends pg.ClientConfig {
  /** Whether a host that is a standby must not be used. */
  mustTakeWrites: boolean;
}

export interface SessionOptions {
  /** How its connection is made; a second one may have to be. */
  config: HostConfig;
  /** The search path; default: as it is. */
  schema?: string;
  /** Milliseconds; default: no limit. */
  statementTimeout?: number;
  /** Milliseconds in which a transaction may wait for its next statement; default: no limit. */
  idleTransactionTimeout?: number;
}

/** The settings of a session, by name. */
export const sessionSettings = ({
  config: { application_name: application },
  schema,
  statementTimeout = 0,
  idleTransactionTimeout = 0,
}: SessionOptions): Record<string, string> => ({
  ...MEANING,
  ...TUNING,
  // A pooler forgets it.
  ...(application !== undefined && { application_name: application }),
  ...(schema !== undefined && { search_path: pg.escapeIdentifier(schema) }),
  statement_timeout: String(statementTimeout),
  idle_in_transaction_session_timeout: String(idleTransactionTimeout),
});
