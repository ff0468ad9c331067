import type { Writable } from 'node:stream';

/**
 * Makes a socket send together what is written to it in one turn of the event loop. The driver writes each message by
 * itself: so a batch takes a system call for each, and the broker reads each alone.
 */
export function joinWrites(socket: Writable): void {
  const write = socket.write.bind(socket);
  const writeJoined = (...chunk: Parameters<typeof write>): boolean => {
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    return write(...chunk);
  };
  Object.assign(socket, { write: writeJoined });
}
