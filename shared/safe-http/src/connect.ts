import { connect, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { isLocalError, RequestFailure } from './failure.ts';
import { literalOf } from './public-address.ts';

/** After this many milliseconds without a connection, the next address is tried, too (RFC 8305, section 8). */
const ATTEMPT_DELAY = 250;

/** A TCP connection to one of the addresses that were checked. */
export interface Connection {
  socket: Socket;
  address: string;
}

/**
 * Connects to the address that answers first. An address is tried when those before it have failed, or when the last
 * one has had its time, which keeps trying (RFC 8305, section 5).
 * @param target.addresses at least one
 * @throws RequestFailure
 */
export async function connectToFirst(
  { addresses, port }: { addresses: readonly string[]; port: number },
  signal: AbortSignal,
): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const waiting = [...addresses];
  const attempts = new Set<Socket>();
  let isLocal = true;
  let timer: NodeJS.Timeout | undefined;
  const tryNext = () => {
    clearTimeout(timer);
    const address = waiting.shift();
    if (address === undefined) return;
    const socket = connect({ host: address, port });
    attempts.add(socket);
    // Stays for later errors, which `close` reports.
    socket.on('error', (error) => {
      if (!attempts.delete(socket)) return;
      isLocal &&= isLocalError(error);
      if (attempts.size === 0 && waiting.length === 0) reject(new RequestFailure('connection', { isLocal }));
      else tryNext();
    });
    socket.once('connect', () => {
      attempts.delete(socket);
      resolve({ socket, address });
    });
    timer = setTimeout(tryNext, ATTEMPT_DELAY);
  };
  const abort = () => reject(new RequestFailure('timeout'));
  signal.addEventListener('abort', abort, { once: true });
  tryNext();
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    for (const socket of attempts) socket.destroy();
    attempts.clear();
    waiting.length = 0;
  });
}

/** Begins TLS on a connection to the host of a URL. @throws RequestFailure */
export async function startTls(
  socket: Socket,
  { url, signal, secureContext }: { url: URL; signal: AbortSignal; secureContext: SecureContext },
): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const literal = literalOf(url);
  const secured = connectTls({
    socket,
    // SNI does not allow addresses; the certificate must then be valid for the address itself.
    host: literal ?? url.hostname,
    servername: literal === undefined ? url.hostname : '',
    ALPNProtocols: ['http/1.1'],
    secureContext,
  });
  const fail = () => reject(new RequestFailure(signal.aborted ? 'timeout' : 'tls'));
  const abort = () => secured.destroy();
  signal.addEventListener('abort', abort, { once: true });
  secured.once('secureConnect', () => resolve(secured));
  // Stays: the connection may break before the request is sent.
  secured.on('error', fail);
  secured.once('close', fail);
  return promise.finally(() => signal.removeEventListener('abort', abort));
}
