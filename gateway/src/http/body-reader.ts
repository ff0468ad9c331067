import type { IncomingMessage } from 'node:http';
import { DomainError, shareExceeded } from '@tocsin/http';
import type { FairShares } from '@tocsin/runtime';
import { overloaded } from '../domain/overload.ts';
import type { BodyTimes } from '../domain/shares.ts';

/** A body in memory, which counts against its workspace's share until it is released. */
export interface ReceivedBody {
  /** `undefined` if the request has no body. */
  readonly bytes: Buffer | undefined;
  release(): void;
}

export interface BodyReader {
  /**
   * Reads a body to its end, or until it is over the limit: then the bytes are one more than the limit, and the rest is
   * discarded. Resolves with `undefined` if the client has gone.
   * @throws DomainError `invalid_request` (408) for a body that does not arrive in time, `rate_limited` or
   *   `service_unavailable` if there is no memory left for it
   */
  read(request: IncomingMessage, workspaceId: number): Promise<ReceivedBody | undefined>;
}

/** Of a body that must arrive within `progress`. */
const MIN_BYTES = 1_000;
/** How long a client has to read the refusal of a slow body before its connection is closed; milliseconds. */
const CLOSE_DELAY = 1_000;

export function bodyReader(shares: FairShares, limits: BodyLimits): BodyReader {
  return { read: async (request, workspaceId) => readBody(request, { shares, limits, workspaceId }) };
}

interface BodyLimits {
  times: BodyTimes;
  maxBytes: number;
}

async function readBody(
  request: IncomingMessage,
  { shares, limits, workspaceId }: { shares: FairShares; limits: BodyLimits; workspaceId: number },
): Promise<ReceivedBody | undefined> {
  const { times, maxBytes } = limits;
  if (request.destroyed) return undefined;
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedBody | undefined>();
  const bytes = growingBuffer();
  let held = 0;
  const release = () => {
    shares.giveBack(workspaceId, held);
    held = 0;
  };

  const stop = () => {
    clearInterval(timer);
    request.removeListener('data', onData);
    request.removeListener('end', onEnd);
    request.removeListener('close', onClose);
    // Discards the rest: closing the connection could reset it before the client has read the response.
    request.resume();
  };
  const refuse = (error: DomainError) => {
    stop();
    release();
    reject(error);
  };
  const finish = () => {
    stop();
    resolve({ bytes: bytes.content(), release });
  };

  const onData = (chunk: Buffer) => {
    const piece = chunk.subarray(0, maxBytes + 1 - bytes.length());
    if (!shares.take(workspaceId, piece.length)) {
      refuse(noMemory(shares.heldBy(workspaceId) - held));
      return;
    }
    held += piece.length;
    bytes.append(piece);
    if (bytes.length() > maxBytes) finish();
  };
  const onEnd = finish;
  const onClose = () => {
    stop();
    release();
    resolve(undefined);
  };
  request.on('data', onData);
  request.once('end', onEnd);
  request.once('close', onClose);

  const start = performance.now();
  let lastLength = 0;
  const timer = setInterval(() => {
    const isLate = performance.now() - start >= times.deadline;
    if (!isLate && bytes.length() - lastLength >= MIN_BYTES) {
      lastLength = bytes.length();
      return;
    }
    refuse(isLate ? tooLate(times) : tooSlow(times));
    setTimeout(() => request.complete || request.socket.destroy(), CLOSE_DELAY).unref();
  }, times.progress);
  return promise;
}

const MIN_CAPACITY = 1_024;

/**
 * A list of the chunks would take far more memory than their bytes, if a client sends each byte as a chunk of its own.
 * A body of one chunk is not copied.
 */
function growingBuffer() {
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;
  return {
    length: () => length,
    append: (piece: Buffer) => {
      const needed = length + piece.length;
      if (length === 0) buffer = piece;
      else {
        if (needed > buffer.length) {
          const larger = Buffer.allocUnsafe(Math.max(MIN_CAPACITY, 2 * needed));
          buffer.copy(larger, 0, 0, length);
          buffer = larger;
        }
        piece.copy(buffer, length);
      }
      length = needed;
    },
    content: () => buffer.subarray(0, length),
  };
}

const seconds = (milliseconds: number) => milliseconds / 1_000;

const tooLate = ({ deadline }: BodyTimes) => slowBody(`The body did not arrive within ${seconds(deadline)} seconds`);

const tooSlow = ({ progress }: BodyTimes) =>
  slowBody(`Fewer than ${MIN_BYTES} bytes of the body arrived within ${seconds(progress)} seconds`);

const slowBody = (message: string) =>
  new DomainError('invalid_request', message, {
    status: 408,
    reason: 'slow_body',
    headers: { Connection: 'close' },
  });

/** @param others bytes of other bodies of the workspace; without any, it is not the one that uses the memory */
const noMemory = (others: number) =>
  others === 0
    ? overloaded('The gateway has no memory for more request bodies', 'body_memory')
    : shareExceeded('The bodies of this workspace that are under way have too many bytes together', {
        reason: 'body_bytes_in_flight',
      });
