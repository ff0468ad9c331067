import type { IncomingMessage } from 'node:http';
import { databaseFailure, isOutcomeUnknown } from '@tocsin/postgres';
import type { Logger } from '@tocsin/runtime';
import { DomainError, outcomeUnknown, serviceUnavailable, shareExceeded } from '../errors/errors.ts';
import { isRead, pathOf } from '../server/exchange.ts';
import { requestIdOf } from '../server/request-id.ts';

/**
 * Maps anything that a handler threw to an error of the contract. Failures of the database and unexpected errors are
 * logged here, once; the client gets no detail of them.
 */
export function toDomainError(error: unknown, request: IncomingMessage, log: Logger): DomainError {
  if (error instanceof URIError) {
    return new DomainError('invalid_request', 'The percent-encoding of the path is not valid');
  }
  const { cause } = error instanceof DomainError ? error : { cause: undefined };
  const context = {
    err: cause ?? error,
    request_id: requestIdOf(request),
    method: request.method,
    path: pathOf(request),
  };
  if (error instanceof DomainError) {
    if (cause !== undefined)
      log.warn({ ...context, code: error.code }, 'a request was refused because something failed');
    return error;
  }
  switch (databaseFailure(error)) {
    case 'unreachable':
      log.error(context, 'cannot reach the database');
      return isOutcomeUnknown(error) && !isRead(request)
        ? outcomeUnknown('The service lost its database while it wrote')
        : serviceUnavailable('The service cannot reach its database');
    case 'unable':
      log.error(context, 'the database cannot execute statements now');
      return serviceUnavailable("The service's database is not available");
    case 'conflict':
      log.warn(context, 'a transaction was aborted by a conflict with another one');
      return serviceUnavailable('The request conflicted with another one and was not carried out');
    case 'timeout':
      log.error(context, 'a statement timed out');
      return serviceUnavailable('The database did not respond in time');
    case 'busy':
      log.warn(context, 'all connections to the database are in use');
      return serviceUnavailable('All connections of the service to its database are in use');
    case 'share_exceeded':
      return shareExceeded("The workspace's requests use all of its connections to the database", {
        reason: 'database_share',
      });
    case 'abandoned':
      // Nobody gets this response.
      log.debug(context, 'the client has gone');
      return serviceUnavailable('The client has gone');
    case 'refused':
    case undefined:
  }
  log.error(context, 'a request failed');
  return new DomainError('internal', 'An unexpected error occurred; the server log has its cause under the request ID');
}
