import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type SecureContext } from 'node:tls';
import { RequestFailure } from './failure.ts';

export interface Tunnel {
  proxy: URL;
  /** `host:port`; the proxy resolves the name. */
  target: string;
  signal: AbortSignal;
  /** For the connection to the proxy itself, if it is an https proxy. Default: the system's certificates. */
  secureContext?: SecureContext;
}

/** Limit of the headers of the proxy's response. */
const MAX_HEADER_BYTES = 16_384;

/**
 * Asks a proxy for a connection to a host (RFC 9110, section 9.3.6).
 * @throws RequestFailure `proxy`: local, unless the proxy says with a 5xx that it cannot reach the host; `timeout` while
 *   the proxy connects to the host
 */
export async function openTunnel({ proxy, target, signal, secureContext }: Tunnel): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const isSecure = proxy.protocol === 'https:';
  const host = proxy.hostname.replace(/^\[(.*)\]$/, '$1');
  const request = (isSecure ? https : http).request({
    method: 'CONNECT',
    agent: false,
    signal,
    host,
    port: proxy.port === '' ? (isSecure ? 443 : 80) : Number(proxy.port),
    path: target,
    headers: { host: target, ...authorization(proxy) },
    maxHeaderSize: MAX_HEADER_BYTES,
    // Otherwise Node takes the name of the target.
    ...(isSecure && { servername: isIP(host) === 0 ? host : '', secureContext }),
  });
  let isConnected = false;
  request.once('socket', (socket) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true));
  });
  request.once('connect', ({ statusCode = 0 }, socket, head) => {
    if (statusCode >= 200 && statusCode <= 299) {
      if (head.length > 0) socket.unshift(head);
      // Later errors are those of the TLS connection inside.
      socket.on('error', () => undefined);
      resolve(socket);
    } else {
      socket.destroy();
      reject(new RequestFailure('proxy', { isLocal: statusCode < 500 }));
    }
  });
  const fail = () =>
    reject(
      isConnected && signal.aborted ? new RequestFailure('timeout') : new RequestFailure('proxy', { isLocal: true }),
    );
  request.on('error', fail);
  request.once('close', fail);
  request.end();
  return promise;
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** An agent that keeps connections through a proxy open, for a host that the operator has named. */
export function tunnelAgent(proxy: URL, signal: AbortSignal): https.Agent {
  const agent = new https.Agent({ keepAlive: true });
  agent.createConnection = (options, callback) => {
    const { host, port } = options as { host: string; port: number };
    openTunnel({ proxy, target: `${host.includes(':') ? `[${host}]` : host}:${port}`, signal }).then(
      (socket) => callback?.(null, connectTls({ ...(options as ConnectionOptions), socket })),
      (error: unknown) => callback?.(error as Error, undefined as never),
    );
    return undefined;
  };
  return agent;
}
