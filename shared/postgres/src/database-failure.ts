import { ownProperty } from '@tocsin/runtime';
import { DatabaseCallError, type DatabaseFailure } from './database-call-error.ts';

export type { DatabaseFailure } from './database-call-error.ts';

/** By SQLSTATE or a prefix of it; the longest match wins. All other states are `refused`. */
const FAILURES: Readonly<Record<string, DatabaseFailure>> = {
  // Connection exceptions, and sessions ended by the server.
  '08': 'unreachable',
  '57P': 'unreachable',
  // Read-only transaction: a failover left this session on a standby.
  '25006': 'unable',
  // Idle-in-transaction timeout: this process was busy for too long, and the server rolled the transaction back.
  '25P03': 'conflict',
  '25P04': 'timeout',
  // Invalid role, password or database, which an operator may be changing or restoring.
  '28': 'unable',
  '3D000': 'unable',
  // The code is newer than the schema while a migration runs: a missing schema, privilege, table, column, function,
  // type, or unique constraint for ON CONFLICT.
  '3F000': 'unable',
  '42501': 'unable',
  '42P01': 'unable',
  '42703': 'unable',
  '42883': 'unable',
  '42704': 'unable',
  '42P10': 'unable',
  // Serialization failure and deadlock.
  '40': 'conflict',
  // Disk full, out of memory, too many connections.
  '53': 'unable',
  // A lock held by another session.
  '55P03': 'conflict',
  '55006': 'conflict',
  // Operator intervention, except a cancelled statement.
  '57': 'unable',
  '57014': 'timeout',
  // Input/output errors, and a configuration file that the server cannot read.
  '58': 'unable',
  F0: 'unable',
  '72000': 'conflict',
};

/** Classifies the SQLSTATE of a failed statement. */
export function failureOfSqlState(state: string): DatabaseFailure {
  for (let length = state.length; length >= 2; length -= 1) {
    const failure = ownProperty(FAILURES, state.slice(0, length));
    if (failure !== undefined) return failure;
  }
  return 'refused';
}

/** Why the calls to the database failed that ended with these errors. */
const failures = new WeakMap<Error, DatabaseFailure>();

/**
 * Records why a call to the database failed. All sockets fail with the same codes (`ECONNRESET` may also be a client that
 * disconnected), so this must be recorded where it is known.
 */
export const recordFailure = (error: Error, failure: DatabaseFailure) => failures.set(error, failure);

/** The errors of statements that may have been carried out although they failed. */
const unknownOutcomes = new WeakSet<Error>();

/** Records that a statement may have been carried out although it failed with this error. */
export const recordUnknownOutcome = (error: Error) => unknownOutcomes.add(error);

/**
 * Whether the connection was lost while a COMMIT, or a write outside a transaction, was executed, so that nobody knows
 * whether it took effect.
 */
export const isOutcomeUnknown = (error: unknown): boolean => Error.isError(error) && unknownOutcomes.has(error);

/** Classifies the failure of a call on `openDatabase`; `undefined` for an error of any other origin. */
export function databaseFailure(error: unknown): DatabaseFailure | undefined {
  if (error instanceof DatabaseCallError) return error.failure;
  return Error.isError(error) ? failures.get(error) : undefined;
}

/** Whether the database cannot work now, so that the caller should wait. False for a refused statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const failure = databaseFailure(error);
  return failure === 'unreachable' || failure === 'unable' || failure === 'busy';
}
