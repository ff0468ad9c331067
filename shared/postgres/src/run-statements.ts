import { markFailed } from '@tocsin/runtime';
import pg from 'pg';
import { columnTypes } from './column-types.ts';
import { DatabaseCallError } from './database-call-error.ts';
import { failureOfSqlState, recordFailure, recordUnknownOutcome } from './database-failure.ts';
import { Pipeline, type Statement, type StatementResult } from './pipeline.ts';
import type { PooledConnection, RunningStatement } from './pooled-connection.ts';
import { startStatementSpan, summaryOf } from './statement-spans.ts';

const DISK_FULL = '53100';

/** Begins a statement that changes nothing. */
const READ = /^\s*(?:select|set|show)\b/i;

/** Whether statements may change something, judged by their first words. */
export const mayChange = (statements: readonly Statement[]): boolean => statements.some(({ text }) => !READ.test(text));

/** As the server reports it in any language. */
const STALE = { code: '0A000', routine: 'RevalidateCachedQuery' };

/** Whether a prepared statement has other columns than when it was prepared, because a migration has changed a table. */
const isStale = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === STALE.code && error.routine === STALE.routine;

interface RunOptions {
  /**
   * Whether they may have changed something if their results are lost; by default that follows from their texts, as they
   * are a transaction of their own.
   */
  mayWrite?: boolean;
}

/**
 * Runs statements on a connection of a pool in one round trip, watched and with their deadline. If one fails, the server
 * executes none of those after it. Statements that a migration has made stale are prepared again, if they are the first of
 * their transaction, so that nothing else has to be repeated; otherwise the transaction has a conflict.
 */
export async function runStatements(
  connection: PooledConnection,
  statements: readonly Statement[],
  options: RunOptions = {},
): Promise<StatementResult[]> {
  const areFirst = connection.getTransactionStatus() === 'I';
  try {
    return await attempt(connection, statements, options);
  } catch (error) {
    if (!isStale(error)) throw error;
    // The others that it has prepared may be stale, too.
    if (connection.shared === undefined) connection.doNotReuse();
    else connection.shared.renew();
    if (!areFirst) throw error;
    const cleaning = [
      ...(connection.getTransactionStatus() === 'I' ? [] : [ROLLBACK]),
      ...(connection.shared === undefined ? [DEALLOCATE] : []),
    ];
    if (cleaning.length > 0) await attempt(connection, cleaning, { mayWrite: false });
    if (connection.shared === undefined) connection.forgetStatements();
    return attempt(connection, statements, options);
  }
}

const QUERY_CANCELED = '57014';
const ROLLBACK: Statement = { text: 'ROLLBACK' };
const DEALLOCATE: Statement = { text: 'DEALLOCATE ALL' };

async function attempt(
  connection: PooledConnection,
  statements: readonly Statement[],
  { mayWrite }: RunOptions,
): Promise<StatementResult[]> {
  const { watch } = connection;
  const span = startStatementSpan(connection, () =>
    statements.map(({ name, text }) => name ?? summaryOf(text)).join(', '),
  );
  const running = watch.started(connection, statements.length);
  const { shared } = connection;
  const pipeline = new Pipeline(shared?.current(statements) ?? statements, columnTypes, {
    describesAll: shared !== undefined,
  });
  try {
    void connection.query(pipeline);
    const results = await pipeline.results;
    watch.ended(running, true);
    return results;
  } catch (error) {
    const isResponse = error instanceof pg.DatabaseError;
    watch.ended(running, isResponse);
    // Instead of the stack of the socket that received the error.
    if (isResponse) Error.captureStackTrace(error);
    const explained = explainFailure(running, error as Error);
    const failure = failureOf(explained, connection);
    recordFailure(explained, failure);
    watch.counts.failed[isResponse && error.code === DISK_FULL ? 'disk_full' : failure] += 1;
    if (span !== undefined) markFailed(span, explained);
    // After a failover the session may continue on a server that is now read-only. A new one can reach the primary.
    if (failure === 'unable') connection.doNotReuse();
    if (failure === 'unreachable' && (mayWrite ?? mayChange(statements))) {
      recordUnknownOutcome(explained);
    }
    throw explained;
  } finally {
    span?.end();
  }
}

function failureOf(error: Error, connection: PooledConnection) {
  if (error instanceof DatabaseCallError) return error.failure;
  if (isStale(error)) return 'conflict';
  if (error instanceof pg.DatabaseError) return failureOfSqlState(error.code ?? '');
  return connection.isLost ? 'unreachable' : 'refused';
}

/** What a caller learns when a statement fails: why this process has cancelled it or destroyed its connection. */
function explainFailure({ connection, cancelledAt }: RunningStatement, error: Error): Error {
  const { failure } = connection;
  const isCancelled = cancelledAt !== undefined || (error instanceof pg.DatabaseError && error.code === QUERY_CANCELED);
  if (isCancelled && connection.cancelled === 'client_gone')
    return new DatabaseCallError('abandoned', 'the client has gone', { cause: error });
  // A new error for each statement, because the statement is put into the message.
  if (failure !== undefined) return new DatabaseCallError(failure.failure, failure.message, { cause: error });
  return cancelledAt === undefined
    ? error
    : new DatabaseCallError('timeout', 'the statement took too long', { cause: error });
}
