import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { type Certificate, createCertificate } from './certificate.ts';
import { loopbackServer } from './loopback-server.ts';
import { answer, type Behaviour } from './receiver-behaviours.ts';

/** A request as it arrived; `body` is the exact text. */
export interface ReceivedRequest {
  method: string;
  path: string;
  /** The name in the request's Host header. */
  host: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When its last byte arrived; milliseconds since the epoch. */
  at: number;
}

/** What happens to a new connection: TLS, bytes that are not TLS, plain HTTP, or it is closed. */
type Handshake = 'tls' | 'garbage' | 'plain' | 'close';

export interface ReceiverOptions {
  /** Names and addresses in the certificate. */
  names?: readonly string[];
  certificate?: Certificate;
  /** Default `127.0.0.1`; `0.0.0.0` listens on every loopback address. */
  host?: string;
}

/** An HTTPS server that records requests. A test sets how it responds; default 204. */
export interface Receiver {
  port: number;
  /** The certificate that clients must trust. */
  ca: string;
  requests: ReceivedRequest[];
  /** Called for each request. */
  respond: (request: ReceivedRequest) => Behaviour;
  handshake: Handshake;
  /** The number of open connections. */
  readonly connections: number;
  url(path?: string, name?: string): string;
  /** Destroys every open connection. */
  closeConnections(): void;
  /** The value for `WEBHOOK_TEST_RECEIVERS`. */
  hostAndPort(name?: string): string;
  stop(): Promise<void>;
}

const NAMES = ['localhost', '127.0.0.1', '::1'];

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const certificate = options.certificate ?? (await createCertificate(options.names ?? NAMES));
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const { method = '', url = '', headers } = request;
      const received = {
        method,
        path: url,
        host: (headers.host ?? '').replace(/:\d+$/, ''),
        headers,
        body: Buffer.concat(chunks).toString(),
        at: Date.now(),
      };
      receiver.requests.push(received);
      receiver.respond(received)(response);
    });
  };
  const secure = createHttpsServer(certificate, listener);
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  const plain = createHttpServer(listener);

  // A TCP server in front, so that a test can control each connection before TLS.
  const front = createServer((socket) => {
    socket.on('error', () => undefined);
    if (receiver.handshake === 'close') socket.destroy();
    else if (receiver.handshake === 'garbage') socket.resume().end('this is not a TLS handshake\r\n');
    else (receiver.handshake === 'plain' ? plain : secure).emit('connection', socket);
  });
  const { port, connections, close } = await loopbackServer(
    front,
    options.host === undefined ? {} : { host: options.host },
  );

  const receiver: Receiver = {
    port,
    ca: certificate.cert,
    requests: [],
    respond: () => answer(204),
    handshake: 'tls',
    get connections() {
      return connections.size;
    },
    url: (path = '/hook', name = 'localhost') => `https://${name}:${port}${path}`,
    closeConnections: () => {
      for (const socket of connections) socket.destroy();
    },
    hostAndPort: (name = 'localhost') => `${name}:${port}`,
    stop: close,
  };
  return receiver;
}
