import { DomainError } from '@tocsin/http';
import { isDatabaseUnavailable, UnusableSession } from '@tocsin/postgres';
import { describeStartFailure } from '@tocsin/runtime';
import { CommanderError } from 'commander';
import { UsageError } from '../cli/src/operation-parameters.ts';

const NO_DATABASE = '3D000';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_SCHEMA = '3F000';

/** The message of an error, in one line. */
export function describeError(error: unknown): string {
  if (error instanceof UsageError || error instanceof DomainError || error instanceof UnusableSession) {
    return error.message;
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'commander.help') return 'name a command: --help lists them';
  if (code === NO_DATABASE) {
    return `${(error as Error).message}: correct the setting that names it, or run npm run migrate`;
  }
  if (code === UNDEFINED_TABLE || code === UNDEFINED_SCHEMA) return 'the database is not set up: run npm run migrate';
  if (isDatabaseUnavailable(error)) return `cannot reach the database: ${describeStartFailure(error)}`;
  const message = error instanceof CommanderError ? error.message.replace('error: ', '') : describeStartFailure(error);
  return message
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(error instanceof CommanderError ? ' ' : '; ');
}
