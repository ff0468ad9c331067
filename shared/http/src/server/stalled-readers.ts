import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds (contract: Unread responses). */
const STALL_TIMEOUT = 30_000;
const CHECKS_PER_TIMEOUT = 6;

/** Node has no public property for how much of a write the system has taken. */
interface StreamHandle {
  /** Handed over to libuv. */
  bytesWritten: number;
  /** The part of them that the system has not taken. */
  writeQueueSize: number;
}

interface Reader {
  taken: number;
  /** When the client was last seen to take something, or when nothing waited for it. */
  since: number;
}

/**
 * Resets the connections of clients that take nothing of a waiting response for `timeout` milliseconds. A timeout of
 * the socket would not do: bytes that such a client sends would postpone it.
 */
export function cutOffStalledReaders(server: Server, timeout = STALL_TIMEOUT): void {
  const readers = new Map<Socket, Reader>();
  server.on('connection', (socket: Socket) => {
    readers.set(socket, { taken: 0, since: performance.now() });
    socket.once('close', () => readers.delete(socket));
  });
  const check = () => {
    const now = performance.now();
    for (const [socket, reader] of readers) {
      const { isWaiting, taken } = progressOf(socket);
      if (!isWaiting || taken !== reader.taken) {
        reader.taken = taken;
        reader.since = now;
        // A reset, because the system would keep what it has taken for a client that never reads it.
      } else if (now - reader.since >= timeout) socket.resetAndDestroy();
    }
  };
  const timer = setInterval(check, timeout / CHECKS_PER_TIMEOUT).unref();
  server.once('close', () => clearInterval(timer));
}

function progressOf(socket: Socket): { isWaiting: boolean; taken: number } {
  const handle = (socket as unknown as { _handle: StreamHandle | null })._handle;
  if (handle === null) return { isWaiting: false, taken: 0 };
  return { isWaiting: socket.writableLength > 0, taken: handle.bytesWritten - handle.writeQueueSize };
}
