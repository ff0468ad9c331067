import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** What a receiver does with a request that has arrived whole. */
export type Behaviour = (response: ServerResponse) => void;

/** Answers as a receiver should, or as one should not but may: any status, headers and body. */
export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

/** Never answers. */
export const hang = (): Behaviour => () => undefined;

/** Closes the connection instead of an answer. */
export const close = (): Behaviour => raw((socket) => void socket.destroy());

/** Sends headers without end, a byte at a time. */
export const slowHeaders = (): Behaviour =>
  raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
    drip(socket);
  });

/** Announces a body of this length, and sends it a byte at a time. */
export const slowBody = (bytes = 60_000): Behaviour =>
  raw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
    drip(socket);
  });

/** Announces a body of this length, and sends it. */
export const oversized = (bytes = 65_537): Behaviour => answer(200, {}, 'x'.repeat(bytes));

/** Sends a body without end as fast as it is taken, and never says how long it is. */
export const endlessBody = (): Behaviour =>
  raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    flood(socket, `400\r\n${'x'.repeat(1_024)}\r\n`);
  });

/** Ends before the body is as long as announced. */
export const truncated = (): Behaviour =>
  raw((socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789');
  });

/** Changes to a protocol that nobody asked for. */
export const switching = (): Behaviour =>
  raw((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
  });

/** Sends interim answers without end. */
export const interimFlood = (): Behaviour =>
  raw((socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'));

/** Sends a header that fills a megabyte. */
export const hugeHeaders = (): Behaviour =>
  raw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nX-Huge: ${'x'.repeat(1_048_576)}\r\n\r\n`);
  });

/** Sends something that is not HTTP. */
export const garbage = (): Behaviour =>
  raw((socket) => {
    socket.end('220 mail.example.com ESMTP\r\n');
  });

/** A short body that becomes this long when it is decompressed. */
export const compressed = (bytes = 10_485_760): Behaviour => {
  const body = gzipSync(Buffer.alloc(bytes));
  return (response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(body);
  };
};

/** Past Node's own HTTP, straight to the connection. */
function raw(act: (socket: Socket) => void): Behaviour {
  return ({ socket }) => {
    if (socket === null) return;
    // The other side hangs up on most of this.
    socket.on('error', () => undefined);
    act(socket);
  };
}

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('x'), 100);
  socket.once('close', () => clearInterval(timer));
}

function flood(socket: Socket, text: string): void {
  const pour = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', pour);
  pour();
}
