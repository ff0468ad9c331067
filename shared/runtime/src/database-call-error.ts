import type { DatabaseFailure } from './database-failure.ts';

/** A call to the database that this process has ended or refused itself. */
export class DatabaseCallError extends Error {
  readonly failure: DatabaseFailure;

  constructor(failure: DatabaseFailure, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.failure = failure;
  }
}
