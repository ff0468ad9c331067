import net from 'node:net';

/** A proxy in front of Postgres that counts the statements that clients execute. */
export interface StatementProxy {
  readonly url: string;
  /** Statements executed so far, by database role. BEGIN and COMMIT count, too. */
  counts(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const EXECUTE = 'E'.charCodeAt(0);
const SIMPLE_QUERY = 'Q'.charCodeAt(0);
const PROTOCOL_3 = 196_608;
/** A message has a type, except the first ones, and a length that counts itself. */
const LENGTH_BYTES = 4;

export async function statementProxy(serverUrl: string): Promise<StatementProxy> {
  const target = new URL(serverUrl);
  const counts = new Map<string, number>();
  const sockets = new Set<net.Socket>();

  const server = net.createServer((client) => {
    const upstream = net.connect({ host: target.hostname, port: Number(target.port || 5_432), noDelay: true });
    client.setNoDelay(true);
    const read = messageReader((role) => counts.set(role, (counts.get(role) ?? 0) + 1));
    client.on('data', (bytes) => {
      read(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => client.write(bytes));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    counts: () => new Map(counts),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads what a client sends, and reports each execution with the role of the connection. */
function messageReader(report: (role: string) => void): (bytes: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  let role: string | undefined;
  return (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    for (;;) {
      const typeBytes = role === undefined ? 0 : 1;
      if (pending.length < typeBytes + LENGTH_BYTES) return;
      const end = typeBytes + pending.readUInt32BE(typeBytes);
      if (pending.length < end) return;
      const message = pending.subarray(0, end);
      pending = pending.subarray(end);
      if (role !== undefined) {
        if (message[0] === EXECUTE || message[0] === SIMPLE_QUERY) report(role);
      } else if (message.readUInt32BE(LENGTH_BYTES) === PROTOCOL_3) role = roleIn(message);
    }
  };
}

/** The start-up message has names and values, each ended by a zero byte. */
function roleIn(message: Buffer): string {
  const words = message.toString('utf8', 2 * LENGTH_BYTES).split('\0');
  return words[words.indexOf('user') + 1] ?? '';
}
