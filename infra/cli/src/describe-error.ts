import { ConnectionError, TocsinError, UnexpectedResponseError } from '@tocsin/sdk';
import { UsageError } from './operation-parameters.ts';

/** 1 refused, 2 usage, 3 unreachable. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof ConnectionError || error instanceof UnexpectedResponseError ? 3 : 1;
}

export function messageOf(error: unknown): string {
  if (!(error instanceof TocsinError)) return error instanceof Error ? error.message : String(error);
  const { message, field, code, requestId, details } = error;
  const where = field === undefined ? '' : `${field}: `;
  const request = requestId === undefined ? '' : `, request ${requestId}`;
  const more = Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details)}`;
  return `${where}${message} (${code}${request})${more}`;
}
