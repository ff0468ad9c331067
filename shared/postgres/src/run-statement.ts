import { type DatabaseFailure } from './database-call-error.ts';
import type { ShareRefusal } from './connection-shares.ts';
import { databaseFailure, recordFailures, recordUnknownOutcome } from './database-failure.ts';
import type { CancelReason, PooledConnection } from './pooled-connection.ts';
import { markFailed } from '@tocsin/runtime';
import { startStatementSpan } from './statement-spans.ts';
import { type AbandonReason, explainFailure, type StatementWatch } from './statement-watch.ts';

/** What a pool has counted since its start. */
export interface PoolCounts {
  /** Failed statements, by reason. */
  failed: Record<StatementFailure, number>;
  /** Refused connections, by reason. */
  refused: Record<ShareRefusal, number>;
  /** Cancelled statements, by reason. */
  cancelled: Record<CancelReason, number>;
  /** Connections that this process has destroyed, by reason. */
  abandoned: Record<AbandonReason, number>;
}

/** `disk_full`: the server cannot write; all others are `DatabaseFailure`. */
type StatementFailure = DatabaseFailure | 'disk_full';
const DISK_FULL = '53100';

export const NO_FAILURES: Readonly<Record<StatementFailure, number>> = {
  disk_full: 0,
  unreachable: 0,
  unable: 0,
  conflict: 0,
  timeout: 0,
  refused: 0,
  busy: 0,
  share_exceeded: 0,
  abandoned: 0,
};

/** What statements on a connection report to. */
interface Reporting {
  watch: StatementWatch;
  counts: PoolCounts;
}

const reporting = new WeakMap<PooledConnection, Reporting>();

/** Has the statements of a new connection watched and counted. */
export const reportStatements = (connection: PooledConnection, to: Reporting) => reporting.set(connection, to);

/** What is sent to the server. */
export interface StatementDescription {
  sql: string;
  /** Of a prepared statement, or of several ones. */
  name?: string;
  /** How many statements it is: 1 by default. */
  count?: number;
  /** Whether it may have changed something if its result is lost; by default that follows from the text. */
  mayWrite?: boolean;
}

/** Runs a statement on a connection of a pool, with its deadline; or several that are sent at once. */
export async function runStatement<Result>(
  connection: PooledConnection,
  { sql, name, count = 1, mayWrite }: StatementDescription,
  call: () => Promise<Result>,
): Promise<Result> {
  const pool = reporting.get(connection);
  if (pool === undefined) throw new Error('the connection is not of a pool');
  const { watch, counts } = pool;
  const span = startStatementSpan(connection, sql, name);
  const running = watch.started(connection, count);
  try {
    const result = await recordFailures('connected', call);
    watch.ended(running, true);
    return result;
  } catch (error) {
    watch.ended(running, isResponse(error));
    const explained = explainFailure(running, error);
    const failure = databaseFailure(explained);
    const { code } = explained as { code?: unknown };
    if (span !== undefined) markFailed(span, explained);
    if (failure !== undefined) counts.failed[code === DISK_FULL ? 'disk_full' : failure] += 1;
    // After a failover the session may continue on a server that is now read-only. A new one can reach the primary.
    if (failure === 'unable') connection.__knex__disposed = error;
    if (failure === 'unreachable' && (mayWrite ?? mayHaveWritten(connection, sql))) recordUnknownOutcome(explained);
    throw explained;
  } finally {
    span?.end();
  }
}

/** Whether the server reported the error; only then it has a severity. */
const isResponse = (error: unknown): boolean => typeof (error as { severity?: unknown }).severity === 'string';

/** Begins a statement that changes nothing. */
export const READ = /^\s*(?:select|begin|rollback|set|show)\b/i;

/**
 * Whether a statement whose result was lost may have changed something: a COMMIT, or a write that is a transaction of its
 * own. All other statements of a transaction are rolled back with it.
 */
function mayHaveWritten(connection: PooledConnection, sql: string): boolean {
  // The state before the statement.
  return connection.getTransactionStatus() === 'I' ? !READ.test(sql) : /^\s*commit\b/i.test(sql);
}
