import net from 'node:net';
import type { Address } from './messages.ts';

export interface Answer {
  status: number;
  /** Of the whole response, in bytes. */
  bytes: number;
  body: string;
}

/** A keep-alive connection that sends one request at a time. A client of Node would take as much time as the server. */
export interface Connection {
  /** @param request the whole request, head and body */
  send(request: string): Promise<Answer>;
  close(): void;
}

interface Head {
  status: number;
  /** Of the head, in bytes. */
  length: number;
  /** Undefined: the body has chunks. */
  contentLength: number | undefined;
}

/** @throws if the server closes the connection before the response is complete */
export async function connect(address: Address): Promise<Connection> {
  const socket = net.connect({ ...address, noDelay: true });
  let received: Buffer = Buffer.alloc(0);
  let head: Head | undefined;
  let waiting: PromiseWithResolvers<Answer> | undefined;
  const fail = (error: Error) => waiting?.reject(error);

  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    head ??= readHead(received);
    const end = head === undefined ? undefined : endOfBody(received, head);
    if (head === undefined || end === undefined) return;
    const { status, length } = head;
    const body = received.toString('utf8', length, end);
    const answer = { status, bytes: end, body };
    received = received.subarray(end);
    head = undefined;
    waiting?.resolve(answer);
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return {
    send: async (request) => {
      waiting = Promise.withResolvers();
      socket.write(request);
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}

const END_OF_HEAD = '\r\n\r\n';

function readHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1) return undefined;
  const text = bytes.toString('latin1', 0, end);
  const contentLength = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  return {
    status: Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)),
    length: end + END_OF_HEAD.length,
    contentLength: contentLength === undefined ? undefined : Number(contentLength),
  };
}

/** The index after the body; undefined: it is not complete. */
function endOfBody(bytes: Buffer, { length, contentLength }: Head): number | undefined {
  if (contentLength !== undefined) {
    return bytes.length >= length + contentLength ? length + contentLength : undefined;
  }
  for (let start = length; ;) {
    const end = bytes.indexOf('\r\n', start);
    if (end === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', start, end), 16);
    start = end + 2 + size + 2;
    if (start > bytes.length) return undefined;
    if (size === 0) return start;
  }
}
