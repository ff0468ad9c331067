import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '@tocsin/http';

const MAX_HEADERS = 100;
const HOST = 'host';

/**
 * Refuses requests that two HTTP parsers could read differently: with a second host, with an unknown transfer encoding,
 * or with more headers than some releases of Node return, since the length of the body may be among the missing ones.
 * @throws DomainError `invalid_request` naming the header
 */
export function checkFraming({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  if (rawHeaders.length > 2 * MAX_HEADERS)
    throw invalidRequest('headers', `A request must not have more than ${MAX_HEADERS} headers`);
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0'))
    throw invalidRequest('Host', 'A request must have exactly one Host header');
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    throw invalidRequest('Transfer-Encoding', 'Must be chunked');
  }
}
