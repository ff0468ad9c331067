import { ConnectionError, TocsinError, UnexpectedResponseError } from '@tocsin/sdk';
import { say } from '../ui/toast.tsx';

/** What a page shows of a failure. Those of the client name the request and the server, which people do not know. */
export function failureOf(error: unknown): TocsinError {
  if (error instanceof ConnectionError)
    return new ConnectionError(error.code, 'Tocsin cannot be reached. Check the connection.', error);
  if (error instanceof UnexpectedResponseError)
    return new UnexpectedResponseError(error.code, 'The server gave no reason', error);
  if (error instanceof TocsinError) return error;
  return new TocsinError('console', 'The console failed. Reload the page.', { cause: error });
}

/** The same failure at another field: a form may know a better name than the API. */
export const failureAt = (field: string, { code, message, status, details, requestId }: TocsinError): TocsinError =>
  new TocsinError(code, message, { status, field, details, requestId });

export const sayError = (error: unknown): void => say(failureOf(error).message);
