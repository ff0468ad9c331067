import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Certificate, createCertificate } from './certificate.ts';
import { answer, type Behaviour } from './receiver-behaviours.ts';

/** A request as it arrived; `body` is the exact text. */
export interface ReceivedRequest {
  method: string;
  path: string;
  /** The name in the request's Host header. */
  host: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When its last byte had come; milliseconds since the epoch. */
  at: number;
}

/** What happens to a new connection: TLS, bytes that are not TLS, plain HTTP, or nothing but its end. */
export type Handshake = 'tls' | 'garbage' | 'plain' | 'close';

export interface ReceiverOptions {
  /** Names and addresses in the certificate. */
  names?: readonly string[];
  certificate?: Certificate;
  /** Where it listens; `0.0.0.0` takes every loopback address. */
  host?: string;
}

/** A webhook receiver over TLS: it remembers what it gets, and answers as a test tells it to (204 until then). */
export interface Receiver {
  port: number;
  /** Trusting this is trusting the receiver. */
  ca: string;
  requests: ReceivedRequest[];
  /** What it does with a request, from now on. */
  respond: (request: ReceivedRequest) => Behaviour;
  handshake: Handshake;
  /** How many connections are open. */
  connections: number;
  url(path?: string, name?: string): string;
  /** Ends every open connection, whatever it was waiting for. */
  hangUp(): void;
  /** As `WEBHOOK_TEST_RECEIVERS` names it. */
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

  // The connections come in here, so that a test decides what becomes of each before TLS begins.
  const open = new Set<Socket>();
  const front = createServer((socket) => {
    open.add(socket);
    receiver.connections = open.size;
    socket.on('error', () => undefined);
    socket.once('close', () => {
      open.delete(socket);
      receiver.connections = open.size;
    });
    if (receiver.handshake === 'close') socket.destroy();
    else if (receiver.handshake === 'garbage') socket.resume().end('this is no handshake\r\n');
    else (receiver.handshake === 'plain' ? plain : secure).emit('connection', socket);
  });
  const listening = Promise.withResolvers<void>();
  front.once('error', listening.reject);
  front.listen(0, options.host ?? '127.0.0.1', listening.resolve);
  await listening.promise;
  const { port } = front.address() as AddressInfo;

  const receiver: Receiver = {
    port,
    ca: certificate.cert,
    requests: [],
    respond: () => answer(204),
    handshake: 'tls',
    connections: 0,
    url: (path = '/hook', name = 'localhost') => `https://${name}:${port}${path}`,
    hangUp: () => {
      for (const socket of open) socket.destroy();
    },
    hostAndPort: (name = 'localhost') => `${name}:${port}`,
    stop: async () => {
      const closed = Promise.withResolvers<void>();
      front.close(() => closed.resolve());
      receiver.hangUp();
      await closed.promise;
    },
  };
  return receiver;
}
