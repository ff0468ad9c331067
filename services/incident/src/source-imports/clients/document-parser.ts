import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ReceivedDocument, SourceDocument } from '../domain/document.ts';

export type ParseDocument = (request: ReceivedDocument) => Promise<SourceDocument>;

/** Milliseconds. The largest ordinary documents take a tenth of it. */
const DEFAULT_TIMEOUT = 3_000;

const TOO_SLOW: SourceDocument = { status: 'invalid', reason: 'The document takes too long to read' };

/**
 * Parses documents in a worker thread, one after the other: a document of the largest size would block all other requests
 * for a tenth of a second, and some hostile ones for seconds. One that takes longer than the timeout is invalid. The
 * thread starts with the first document and does not keep the process alive.
 */
export function documentParser(timeout = DEFAULT_TIMEOUT): ParseDocument {
  let thread: Promise<Worker> | undefined;
  let previous: Promise<unknown> = Promise.resolve();

  const parse = async (request: ReceivedDocument): Promise<SourceDocument> => {
    thread ??= startThread();
    const worker = await thread.catch((error: unknown) => {
      thread = undefined;
      throw error;
    });
    worker.ref();
    const signal = AbortSignal.timeout(timeout);
    try {
      const parsed = once(worker, 'message', { signal });
      worker.postMessage(request);
      const [document] = (await parsed) as [SourceDocument];
      worker.unref();
      return document;
    } catch (error) {
      thread = undefined;
      await worker.terminate();
      if (signal.aborted) return TOO_SLOW;
      throw error;
    }
  };

  return async (request) => {
    const document = previous.then(async () => parse(request));
    previous = document.catch(() => undefined);
    return document;
  };
}

/** Waits until the thread has loaded its modules: that is no part of the time for a document. */
async function startThread(): Promise<Worker> {
  const worker = new Worker(new URL('./document-worker.ts', import.meta.url));
  await once(worker, 'message');
  return worker;
}
