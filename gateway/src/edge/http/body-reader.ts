import type { IncomingMessage } from 'node:http';
import { DomainError, shareExceeded } from '@tocsin/http';
import type { FairQueue } from '@tocsin/runtime';
import { overloaded } from '../../upstreams/domain/overload.ts';
import type { BodyTimes } from '../../limits/domain/shares.ts';

/** A body in memory, which counts against its workspace's limit until it is released. */
export interface ReceivedBody {
  /** `undefined` if the request has no body. */
  readonly bytes: Buffer | undefined;
  release(): void;
}

export interface BodyReader<Holder> {
  /**
   * Reads a body to its end, or until it is over the limit: then the bytes are one more than the limit, and the rest is
   * discarded. Resolves with `undefined` if the client has gone.
   * @param limit if not that of all others
   * @throws DomainError `invalid_request` (408) for a body that does not arrive in time, `rate_limited` or
   *   `service_unavailable` if there is no memory left for it
   */
  read(request: IncomingMessage, holder: Holder, limit?: number): Promise<ReceivedBody | undefined>;
  /** Counts a body that is in memory already. @throws DomainError if there is no memory left for it */
  hold(bytes: Buffer, holder: Holder): ReceivedBody;
}

/** Of a body that must arrive within `progress`. */
const MIN_BYTES = 1_000;
/** How long a client has to read the refusal of a slow body before its connection is closed; milliseconds. */
const CLOSE_DELAY = 1_000;
const MIN_CAPACITY = 1_024;

/** @param options.holder what the leases are counted by, for people */
export function bodyReader<Holder>(
  leases: FairQueue<Holder>,
  {
    times,
    maxBytes: usualLimit,
    holder: name,
  }: { times: BodyTimes; maxBytes: number; holder: 'workspace' | 'network' },
): BodyReader<Holder> {
  const hold = (bytes: Buffer, holder: Holder): ReceivedBody => {
    const lease = leases.tryTake(holder, bytes.length);
    if (lease === undefined) throw noMemory(name, leases.heldBy(holder));
    return { bytes, release: () => lease.release() };
  };

  return {
    hold,

    read: async (request, holder, maxBytes = usualLimit) => {
      if (request.destroyed) return undefined;
      // Nearly all bodies: there is nothing to wait for.
      if (request.complete && request.readableLength <= maxBytes) return hold(read(request), holder);
      const { promise, resolve, reject } = Promise.withResolvers<ReceivedBody | undefined>();
      let buffer: Buffer = Buffer.alloc(0);
      let length = 0;
      const lease = leases.tryTake(holder, 0);
      const release = () => lease?.release();

      const stop = () => {
        clearInterval(timer);
        request.removeListener('data', onData);
        request.removeListener('end', finish);
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
        resolve({ bytes: buffer.subarray(0, length), release });
      };
      const onData = (chunk: Buffer) => {
        const piece = chunk.subarray(0, maxBytes + 1 - length);
        if (lease?.tryGrow(piece.length) !== true) {
          refuse(noMemory(name, leases.heldBy(holder) - length));
          return;
        }
        buffer = append(buffer, length, piece);
        length += piece.length;
        if (length > maxBytes) finish();
      };
      const onClose = () => {
        stop();
        release();
        resolve(undefined);
      };
      request.on('data', onData);
      request.once('end', finish);
      request.once('close', onClose);

      const start = performance.now();
      let lastLength = 0;
      const timer = setInterval(() => {
        const isLate = performance.now() - start >= times.deadline;
        if (!isLate && length - lastLength >= MIN_BYTES) {
          lastLength = length;
          return;
        }
        refuse(isLate ? tooLate(times) : tooSlow(times));
        setTimeout(() => request.complete || request.socket.destroy(), CLOSE_DELAY).unref();
      }, times.progress);
      return promise;
    },
  };
}

/** Takes what has arrived. */
const read = (request: IncomingMessage) => (request.read() as Buffer | null) ?? Buffer.alloc(0);

/**
 * Returns a buffer with the first `length` bytes of this one, and the piece after them. A list of the chunks would take
 * far more memory than their bytes, if a client sends each byte as a chunk of its own. A body of one chunk is not copied.
 */
function append(buffer: Buffer, length: number, piece: Buffer): Buffer {
  if (length === 0) return piece;
  const needed = length + piece.length;
  const target =
    needed > buffer.length ? Buffer.concat([buffer.subarray(0, length)], Math.max(MIN_CAPACITY, 2 * needed)) : buffer;
  piece.copy(target, length);
  return target;
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

/** @param others bytes of other bodies of the holder; without any, it is not the one that uses the memory */
const noMemory = (holder: string, others: number) =>
  others === 0
    ? overloaded('The gateway has no memory for more request bodies', 'body_memory')
    : shareExceeded(`The bodies of this ${holder} that are under way have too many bytes together`, {
        reason: 'body_bytes_in_flight',
      });
