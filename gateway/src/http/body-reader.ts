import type { IncomingMessage } from 'node:http';
import { DomainError, MAX_BODY_BYTES, shareExceeded } from '@tocsin/http';
import type { FairShares } from '../domain/fair-shares.ts';
import { overloaded } from '../domain/overload.ts';

/** A body in memory, which counts against its workspace's share until it is released. */
export interface ReceivedBody {
  readonly bytes: Buffer;
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

export interface BodyTimes {
  /** Milliseconds for the whole body. */
  deadline: number;
  /** Milliseconds in which `MIN_BYTES` of it must arrive. */
  progress: number;
}

const MIN_BYTES = 1_000;
/** How long a client has to read the refusal of a slow body before its connection is closed; milliseconds. */
const CLOSE_DELAY = 1_000;

export function bodyReader(shares: FairShares, times: BodyTimes): BodyReader {
  return { read: async (request, workspaceId) => readBody(request, { shares, times, workspaceId }) };
}

async function readBody(
  request: IncomingMessage,
  { shares, times, workspaceId }: { shares: FairShares; times: BodyTimes; workspaceId: number },
): Promise<ReceivedBody | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedBody | undefined>();
  const chunks: Buffer[] = [];
  let length = 0;
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
    resolve({ bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks), release });
  };

  const onData = (chunk: Buffer) => {
    const piece = chunk.length > MAX_BODY_BYTES + 1 - length ? chunk.subarray(0, MAX_BODY_BYTES + 1 - length) : chunk;
    if (!shares.take(workspaceId, piece.length)) {
      refuse(noMemory(shares.heldBy(workspaceId)));
      return;
    }
    held += piece.length;
    length += piece.length;
    chunks.push(piece);
    if (length > MAX_BODY_BYTES) finish();
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
    if (!isLate && length - lastLength >= MIN_BYTES) {
      lastLength = length;
      return;
    }
    refuse(isLate ? tooLate(times) : tooSlow(times));
    setTimeout(() => request.complete || request.socket.destroy(), CLOSE_DELAY).unref();
  }, times.progress);
  return promise;
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

/** A workspace that holds nothing yet is not the one that uses the memory. */
const noMemory = (heldByWorkspace: number) =>
  heldByWorkspace === 0
    ? overloaded('The gateway has no memory for more request bodies', 'body_memory')
    : shareExceeded('The bodies of this workspace that are under way have too many bytes together', {
        reason: 'body_bytes_in_flight',
      });
