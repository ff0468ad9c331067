/**
 * Why a call to the database failed, classified by what the caller can do:
 *
 * - `unreachable`: there is no connection. Wait until there is one.
 * - `unable`: the database is reachable but cannot work now (read-only, full, not yet migrated). Wait as well.
 * - `conflict`: the transaction conflicted with another one and was rolled back. Repeat the whole transaction.
 * - `timeout`: the statement was cancelled. It may succeed later, or never.
 * - `refused`: the statement is invalid or violates a constraint. It would fail again.
 * - `busy`: all connections are in use, by others too. Wait as well.
 * - `share_exceeded`: the workspace uses all connections of its share. Nothing was executed.
 * - `abandoned`: the client has gone, so nobody waits for the result.
 */
export type DatabaseFailure =
  | 'unreachable'
  | 'unable'
  | 'conflict'
  | 'timeout'
  | 'refused'
  | 'busy'
  | 'share_exceeded'
  | 'abandoned';

/** A call to the database that this process has ended or refused itself. */
export class DatabaseCallError extends Error {
  readonly failure: DatabaseFailure;

  constructor(failure: DatabaseFailure, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.failure = failure;
  }
}

/** A session that must not be used: its settings are not those that the code relies on, or it is shared with others. */
export class UnusableSession extends DatabaseCallError {
  constructor(message: string) {
    super('unable', message);
  }
}
