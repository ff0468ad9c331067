import type { IncomingMessage } from 'node:http';
import { invalid } from '@tocsin/http';

const MOST_HEADERS = 100;

/**
 * Refuses what two readers of one request could understand differently: a second host, and more headers than some
 * releases of Node show, when those that say how long the body is may be among the hidden.
 * @throws DomainError `invalid_request` naming the header
 */
export function checkFraming({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  if (rawHeaders.length > 2 * MOST_HEADERS) throw invalid('headers', `A request has at most ${MOST_HEADERS} headers`);
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) throw invalid('Host', 'A request names one host');
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    throw invalid('Transfer-Encoding', 'The only transfer encoding is chunked');
  }
}
