import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import type pg from 'pg';

/** Where a server listens: host and port, or the path of a Unix socket. */
export type ServerAddress = { host: string; port: number } | { path: string };

/** The codes that take the place of a protocol version in the first message of a connection. */
const CANCEL_REQUEST = 80_877_102;
const SSL_REQUEST = 80_877_103;

/** What a cancel request needs of an open session. */
export interface Session {
  address: ServerAddress;
  processId: number;
  secretKey: number;
  ssl: boolean | tls.ConnectionOptions;
  /** The host name for the certificate. */
  host: string;
}

/**
 * Whether a server responds at this address: any byte counts. Every Postgres answers an SSLRequest before it looks at
 * anything else, even if it has no free connection.
 */
export async function responds(address: ServerAddress, timeout: number): Promise<boolean> {
  return exchange(address, timeout, async (socket) => {
    socket.write(message(SSL_REQUEST));
    await firstByte(socket);
  });
}

/**
 * Asks the server to cancel the statement that a session executes. The server closes the connection when it has passed
 * the request on; whether a statement was still running, nobody learns.
 * @returns false if the server does not respond
 */
export async function cancelStatement(session: Session, timeout: number): Promise<boolean> {
  return exchange(session.address, timeout, async (plain) => {
    const socket = session.ssl === false ? plain : await encrypt(plain, session);
    socket.write(message(CANCEL_REQUEST, session.processId, session.secretKey));
    socket.resume();
    // Some servers reset the connection instead.
    await Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => undefined);
  });
}

/** A message without a type: its length in bytes and 32-bit integers. */
function message(...integers: number[]): Buffer {
  const bytes = Buffer.alloc(4 * (integers.length + 1));
  bytes.writeInt32BE(bytes.length, 0);
  integers.forEach((value, index) => bytes.writeInt32BE(value, 4 * (index + 1)));
  return bytes;
}

/** Opens a connection for one exchange. Returns whether it succeeded in time. */
async function exchange(
  address: ServerAddress,
  timeout: number,
  talk: (socket: net.Socket) => Promise<void>,
): Promise<boolean> {
  const socket = net.connect(address);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // After a block of the event loop, a response that has arrived is read first.
  const timer = setTimeout(() => setImmediate(() => resolve(false)), timeout);
  socket.on('error', () => resolve(false));
  socket.once('connect', () => {
    void talk(socket).then(
      () => resolve(true),
      () => resolve(false),
    );
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function firstByte(socket: net.Socket): Promise<Buffer> {
  const [bytes] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as unknown[];
  if (!Buffer.isBuffer(bytes)) throw new Error('the server closed the connection');
  return bytes;
}

/** Continues with TLS, if the server offers it. */
async function encrypt(plain: net.Socket, { ssl, host }: Session): Promise<net.Socket> {
  plain.write(message(SSL_REQUEST));
  const answer = await firstByte(plain);
  if (answer.toString('latin1') !== 'S') throw new Error('the server does not support TLS');
  const options = typeof ssl === 'boolean' ? {} : ssl;
  const socket = tls.connect({
    ...options,
    // The driver hides it from copies.
    ...(options.key !== undefined && { key: options.key }),
    socket: plain,
    host,
    ...(net.isIP(host) === 0 && { servername: host }),
  });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

/** The address that an open session is connected to, so that a name which has moved is not resolved again. */
export function addressOf(client: pg.Client): ServerAddress {
  const { stream } = client.connection;
  if (stream instanceof net.Socket) {
    const { remoteAddress, remotePort } = stream;
    if (remoteAddress !== undefined && remotePort !== undefined) return { host: remoteAddress, port: remotePort };
  }
  if (client.host.startsWith('/')) return { path: `${client.host}/.s.PGSQL.${client.port}` };
  return { host: client.host, port: client.port };
}
