import type { IncomingMessage } from 'node:http';
import { databaseFailure, type Logger } from '@tocsin/runtime';
import { DomainError, serviceUnavailable } from './errors.ts';
import { requestIdOf } from './request-id.ts';

/**
 * Maps anything that a handler threw to an error of the contract. Failures of the database and unexpected errors are
 * logged here, once; the client gets no detail of them.
 */
export function toDomainError(error: unknown, request: IncomingMessage, log: Logger): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof URIError) {
    return new DomainError('invalid_request', 'The percent-encoding of the path is not valid');
  }
  const context = { err: error, request_id: requestIdOf(request), method: request.method, path: pathOf(request) };
  switch (databaseFailure(error)) {
    case 'unreachable':
      log.error(context, 'cannot reach the database');
      return serviceUnavailable('The service cannot reach its database');
    case 'unable':
      log.error(context, 'the database cannot execute statements now');
      return serviceUnavailable("The service's database is not available");
    case 'conflict':
      log.warn(context, 'a transaction was aborted by a conflict with another one');
      return serviceUnavailable('The request conflicted with another one and was not carried out');
    case 'timeout':
      log.error(context, 'a statement timed out');
      return serviceUnavailable('The database did not respond in time');
    case 'refused':
    case undefined:
  }
  log.error(context, 'a request failed');
  return new DomainError('internal', 'An unexpected error occurred; the server log has its cause under the request ID');
}

const pathOf = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0];
