import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { invalidRequest, serviceUnavailable } from '@tocsin/http';
import { FairQueue, LimitReached } from '@tocsin/runtime';
import { type Format, PICTURE_LIMITS } from '../domain/picture.ts';

/** What the process is asked: to encode a picture again. */
export interface EncodeRequest {
  bytes: Uint8Array;
  format: Format;
  limits: Pick<typeof PICTURE_LIMITS, 'bytes' | 'pixels' | 'thumbnail'>;
}

interface EncodedPicture {
  content: Uint8Array;
  /** WebP. */
  thumbnail: Uint8Array;
  width: number;
  height: number;
}

/** What it answers; `refusal` says for people what the picture is not. */
export type EncodeAnswer = EncodedPicture | { refusal: string };

export interface PictureEncoder {
  /**
   * Encodes a picture again, so that nothing but pixels is left of it.
   * @throws DomainError `invalid_request` for a picture that cannot be read, `service_unavailable`
   */
  encode(workspaceId: number, picture: { bytes: Buffer; format: Format }): Promise<EncodedPicture>;
  stop(): Promise<void>;
}

/** Milliseconds. The wait is that of whoever is next: for the slowest start and the slowest picture of another. */
const TIMES = { start: 10_000, picture: 10_000, wait: 20_000, idle: 60_000 };
/** Pictures of one workspace that wait; of all ten times as many. The gateway bounds their bytes. */
const WAITING = 20;
/** Megabytes of the heap of JavaScript. Pixels are outside of it, and `picture-worker.ts` watches them. */
const MAX_HEAP = 64;
/** Settings and secrets of the service are not for the process. With few arenas, memory of pixels is given back. */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2' };

/**
 * Decodes in a process of its own, because what breaks in a decoder breaks its process, and its memory is not that of
 * JavaScript. It starts with the first picture, encodes one at a time, ends after a minute without one, and is killed when
 * it takes too long. Workspaces take turns.
 */
export function pictureEncoder(times: Partial<typeof TIMES> = {}): PictureEncoder {
  const { start, picture: timeout, wait, idle } = { ...TIMES, ...times };
  const turns = new FairQueue<number>({ all: 1, waiting: WAITING, wait });
  let child: Promise<ChildProcess> | undefined;
  let ending: NodeJS.Timeout | undefined;

  const end = async (): Promise<void> => {
    clearTimeout(ending);
    const running = await child?.catch(() => undefined);
    child = undefined;
    running?.kill('SIGKILL');
  };

  const answerTo = async (request: EncodeRequest): Promise<EncodeAnswer | undefined> => {
    clearTimeout(ending);
    child ??= startProcess(start);
    const running = await child.catch((error: unknown) => {
      child = undefined;
      throw error;
    });
    const answer = await ask(running, request, timeout);
    if (answer === undefined) await end();
    else ending = setTimeout(() => void end(), idle).unref();
    return answer;
  };

  return {
    encode: async (workspaceId, { bytes, format }) => {
      const { bytes: maxBytes, pixels, thumbnail } = PICTURE_LIMITS;
      const request = { bytes, format, limits: { bytes: maxBytes, pixels, thumbnail } };
      try {
        const answer = await turns.run(workspaceId, async () => answerTo(request));
        if (answer === undefined) throw invalidRequest('body', 'Takes too much time or memory to read');
        if ('refusal' in answer) throw invalidRequest('body', answer.refusal);
        return answer;
      } catch (error) {
        if (!(error instanceof LimitReached)) throw error;
        throw serviceUnavailable('Other pictures are being read', { seconds: 5, cause: error });
      }
    },
    stop: end,
  };
}

/** Waits until the process has loaded its modules: that is no part of the time for a picture. */
async function startProcess(timeout: number): Promise<ChildProcess> {
  const child = fork(new URL('./picture-worker.ts', import.meta.url), {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [`--max-old-space-size=${MAX_HEAP}`],
    env: ENVIRONMENT,
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeout);
  const ready = once(child, 'message');
  const exit = once(child, 'exit');
  const first = await Promise.race([ready.then(() => 'ready' as const), exit.then(() => 'exit' as const)]);
  clearTimeout(timer);
  if (first === 'exit') throw serviceUnavailable('Pictures cannot be read now', { seconds: 5 });
  detach(child);
  return child;
}

/** Resolves with undefined if the process ends, or gives no answer in time. */
async function ask(child: ChildProcess, request: EncodeRequest, timeout: number): Promise<EncodeAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<EncodeAnswer | undefined>();
  const timer = setTimeout(() => resolve(undefined), timeout);
  const onEnd = () => resolve(undefined);
  const onAnswer = (answer: unknown) => resolve(answer as EncodeAnswer);
  child.ref();
  child.channel?.ref();
  child.once('message', onAnswer).once('exit', onEnd);
  // It has ended since: the answer is that there is none.
  child.send(request, (error) => error && onEnd());
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('message', onAnswer).off('exit', onEnd);
    detach(child);
  }
}

/** Between two pictures it keeps nobody alive. */
function detach(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}
