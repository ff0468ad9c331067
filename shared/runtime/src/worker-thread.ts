import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface WorkerThreadOptions {
  /** Milliseconds for the answer to one message. */
  timeout: number;
  /** Of the heap of the thread; default: that of Node.js. */
  maxMegabytes?: number;
}

/**
 * Does work in a thread of its own, one message after the other: what others have sent could block all requests of the
 * process. The module posts one message once it is loaded, and then one for each that it gets. The thread starts with the
 * first message, and does not keep the process alive.
 * @returns a function that resolves to the answer, or undefined if there is none in time, or too little memory for it
 */
export function workerThread<Message, Answer>(
  module: URL,
  { timeout, maxMegabytes }: WorkerThreadOptions,
): (message: Message) => Promise<Answer | undefined> {
  let thread: Promise<Worker> | undefined;
  let previous: Promise<unknown> = Promise.resolve();

  const answerTo = async (message: Message): Promise<Answer | undefined> => {
    thread ??= startThread(module, maxMegabytes);
    const worker = await thread.catch((error: unknown) => {
      thread = undefined;
      throw error;
    });
    worker.ref();
    const signal = AbortSignal.timeout(timeout);
    try {
      const answered = once(worker, 'message', { signal });
      worker.postMessage(message);
      const [answer] = (await answered) as [Answer];
      worker.unref();
      return answer;
    } catch (error) {
      thread = undefined;
      await worker.terminate();
      if (signal.aborted || (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') return undefined;
      throw error;
    }
  };

  return async (message) => {
    const answer = previous.then(async () => answerTo(message));
    previous = answer.catch(() => undefined);
    return answer;
  };
}

/** Waits until the thread has loaded its modules: that is no part of the time for a message. */
async function startThread(module: URL, maxMegabytes: number | undefined): Promise<Worker> {
  const limits = maxMegabytes === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: maxMegabytes } };
  const worker = new Worker(module, limits);
  await once(worker, 'message');
  return worker;
}
