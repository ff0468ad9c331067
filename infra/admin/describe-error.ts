import { DomainError } from '@tocsin/http';
import { isDatabaseUnavailable } from '@tocsin/postgres';
import { describeStartFailure } from '@tocsin/runtime';
import { UsageError } from './target.ts';

const NO_DATABASE = '3D000';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_SCHEMA = '3F000';

/** The message of an error, in one line. */
export function describeError(error: unknown): string {
  if (error instanceof UsageError || error instanceof DomainError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === NO_DATABASE) {
    return `${(error as Error).message}: correct the setting that names it, or run npm run migrate`;
  }
  if (code === UNDEFINED_TABLE || code === UNDEFINED_SCHEMA) return 'the database is not set up: run npm run migrate';
  if (isDatabaseUnavailable(error)) return `cannot reach the database: ${describeStartFailure(error)}`;
  return describeStartFailure(error)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ');
}
