import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** How a receiver responds to a complete request. */
export type Behaviour = (response: ServerResponse) => void;

/** Sends a response with any status, headers and body. */
export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

/** Never responds. */
export const hang = (): Behaviour => () => undefined;

/** Closes the connection without a response. */
export const close = (): Behaviour => onSocket((socket) => void socket.destroy());

/** Sends endless headers, byte by byte. */
export const slowHeaders = (): Behaviour =>
  onSocket((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
    drip(socket);
  });

/** Announces a body of this length and sends it byte by byte. */
export const slowBody = (bytes = 60_000): Behaviour =>
  onSocket((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
    drip(socket);
  });

/** Sends a body of this length. */
export const oversized = (bytes = 65_537): Behaviour => answer(200, {}, 'x'.repeat(bytes));

/** Sends an endless chunked body as fast as possible. */
export const endlessBody = (): Behaviour =>
  onSocket((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    flood(socket, `400\r\n${'x'.repeat(1_024)}\r\n`);
  });

/** Ends the connection before the body has the announced length. */
export const truncated = (): Behaviour =>
  onSocket((socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789');
  });

/** Switches to a protocol that was not requested. */
export const switching = (): Behaviour =>
  onSocket((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
  });

/** Sends endless interim responses. */
export const interimFlood = (): Behaviour =>
  onSocket((socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'));

/** Sends a header of one megabyte. */
export const hugeHeaders = (): Behaviour =>
  onSocket((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nX-Huge: ${'x'.repeat(1_048_576)}\r\n\r\n`);
  });

/** Sends exactly these bytes, and keeps the connection open. */
export const raw = (bytes: string): Behaviour => onSocket((socket) => void socket.write(bytes));

/** Sends something that is not HTTP. */
export const garbage = (): Behaviour =>
  onSocket((socket) => {
    socket.end('220 mail.example.com ESMTP\r\n');
  });

/** Sends a short gzip body that has this length when decompressed. */
export const compressed = (bytes = 10_485_760): Behaviour => {
  const body = gzipSync(Buffer.alloc(bytes));
  return (response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(body);
  };
};

/** Writes to the socket directly, without Node's HTTP. */
function onSocket(act: (socket: Socket) => void): Behaviour {
  return ({ socket }) => {
    if (socket === null) return;
    // Clients close the connection on most of these.
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
