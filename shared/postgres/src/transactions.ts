import type pg from 'pg';
import { isOutcomeUnknown } from './database-failure.ts';
import { DirectQuery, type PreparedStatement } from './direct-query.ts';
import type { OpenTransaction, PooledConnection } from './pooled-connection.ts';
import { READ, runStatement, type StatementDescription } from './run-statement.ts';
import { summaryOf } from './statement-spans.ts';

const BEGIN = /^BEGIN\b/;
const COMMIT = /^COMMIT\b/;
const ROLLBACK = /^ROLLBACK;?$/;

/**
 * Prepares a transaction of knex for a statement of it. Returns whether the statement has nothing left to do: a BEGIN is
 * sent with the first statement that follows, and a COMMIT may have been sent with the last one.
 */
export async function isDone(connection: PooledConnection, sql: string): Promise<boolean> {
  if (BEGIN.test(sql)) {
    connection.transaction = { unsent: sql, beginning: undefined, isOver: false };
    return true;
  }
  const { transaction } = connection;
  if (transaction === undefined) return false;
  const isRollback = ROLLBACK.test(sql);
  if (isRollback || COMMIT.test(sql)) {
    if (transaction.isOver || transaction.unsent !== undefined) return true;
    // The ROLLBACK must come after a BEGIN that is under way.
    if (isRollback) await transaction.beginning?.catch(() => undefined);
    else await transaction.beginning;
    return false;
  }
  await hasBegun(connection);
  return false;
}

/** Sends the BEGIN alone if it is not sent yet. @throws its error, also for later statements of the transaction */
async function hasBegun(connection: PooledConnection): Promise<void> {
  const { transaction } = connection;
  if (transaction === undefined) return;
  const sql = takeBegin(transaction);
  if (sql === undefined) await transaction.beginning;
  else
    await begins(
      transaction,
      runStatement(connection, { sql }, async () => connection.query(sql)),
    );
}

/** The BEGIN that has to be sent now. @throws after the COMMIT */
function takeBegin(transaction: OpenTransaction): string | undefined {
  if (transaction.isOver) throw new Error('the transaction is over');
  const { unsent } = transaction;
  transaction.unsent = undefined;
  return unsent;
}

async function begins<Result>(transaction: OpenTransaction, sent: Promise<Result>): Promise<Result> {
  transaction.beginning = sent;
  const result = await sent;
  transaction.beginning = undefined;
  return result;
}

const COMMIT_STATEMENT: PreparedStatement = { name: 'commit', text: 'COMMIT', values: [] };

const beginStatement = (text: string): PreparedStatement => ({
  name: text === 'BEGIN;' ? 'begin' : '',
  text,
  values: [],
});

/**
 * Runs statements on a connection in one round trip: with the BEGIN of the transaction if that is not sent yet, and with
 * its COMMIT if `commit` is set. If one fails, the server executes none of those after it. Returns the rows of each.
 */
export async function runDirectly(
  connection: PooledConnection,
  statements: readonly PreparedStatement[],
  { types, commit = false }: { types: pg.CustomTypesConfig; commit?: boolean },
): Promise<unknown[][]> {
  const { transaction } = connection;
  const begin = transaction === undefined ? undefined : takeBegin(transaction);
  if (begin === undefined && transaction?.beginning !== undefined) await transaction.beginning;
  const sent = [
    ...(begin === undefined ? [] : [beginStatement(begin)]),
    ...statements,
    ...(commit ? [COMMIT_STATEMENT] : []),
  ];
  const running = runStatement(
    connection,
    describe(sent, { inTransaction: transaction !== undefined, commit }),
    async () => {
      const query = new DirectQuery(sent, types);
      void connection.query(query);
      try {
        return await query.rows;
      } catch (error) {
        // Instead of the stack of the socket that received the error.
        if (Error.isError(error)) Error.captureStackTrace(error);
        throw error;
      }
    },
  );
  let rows: unknown[][];
  try {
    rows = await (transaction === undefined || begin === undefined ? running : begins(transaction, running));
    if (commit && transaction !== undefined) transaction.isOver = true;
  } catch (error) {
    // knex would report the failure of a ROLLBACK instead.
    if (transaction !== undefined && isOutcomeUnknown(error)) transaction.isOver = true;
    throw error;
  }
  return begin === undefined ? rows.slice(0, statements.length) : rows.slice(1, 1 + statements.length);
}

function describe(
  statements: readonly PreparedStatement[],
  { inTransaction, commit }: { inTransaction: boolean; commit: boolean },
): StatementDescription {
  const [first] = statements;
  const sql = first?.text ?? '';
  if (statements.length > 1) {
    const name = statements.map((statement) => statement.name || summaryOf(statement.text)).join(', ');
    const mayWrite = inTransaction ? commit : statements.some(({ text }) => !READ.test(text));
    return { sql, name, count: statements.length, mayWrite };
  }
  return { sql, ...(first?.name && { name: first.name }), ...(inTransaction && { mayWrite: commit }) };
}
