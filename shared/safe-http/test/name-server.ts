import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** How the server responds to queries for a name: with these addresses, with an error code, or not at all. */
type TypeResponse = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';
/** For all types, or for each. */
type NameResponse = TypeResponse | { A: TypeResponse; AAAA: TypeResponse };

export interface NameServer {
  /** `address:port`. */
  address: string;
  /** Queries so far, as `A name` or `AAAA name`. */
  queries: string[];
  names: Map<string, NameResponse>;
  stop(): Promise<void>;
}

const TYPES = new Map([
  [1, 'A'],
  [28, 'AAAA'],
]);

/** A name server over UDP that responds from its map `names`. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    server.queries.push(`${TYPES.get(type) ?? type} ${name}`);
    const answer = server.names.get(name) ?? 'NXDOMAIN';
    const response = typeof answer === 'string' || 'length' in answer ? answer : type === 28 ? answer.AAAA : answer.A;
    if (response === 'silence') return;
    const records =
      typeof response === 'string' ? [] : response.filter((address) => address.includes(':') === (type === 28));
    const code = response === 'NXDOMAIN' ? 3 : response === 'SERVFAIL' ? 2 : 0;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records.map(record)]), from.port, from.address);
  });
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  const server: NameServer = {
    address: `127.0.0.1:${socket.address().port}`,
    queries: [],
    names: new Map(),
    stop: async () => socket[Symbol.asyncDispose](),
  };
  return server;
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** A resource record for the name of the query, which it refers to by its offset, 12. */
function record(address: string): Buffer {
  const bytes = address.includes(':') ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(bytes.length === 16 ? 28 : 1, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(1, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

function ipv6Bytes(address: string): Buffer {
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(left), groups(right)];
  const bytes = Buffer.alloc(16);
  [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last].forEach((group, index) =>
    bytes.writeUInt16BE(group, index * 2),
  );
  return bytes;
}
