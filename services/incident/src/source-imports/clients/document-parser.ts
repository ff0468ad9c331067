import { workerThread } from '@tocsin/runtime';
import type { ReceivedDocument, SourceDocument } from '../domain/document.ts';

export type ParseDocument = (request: ReceivedDocument) => Promise<SourceDocument>;

/** Milliseconds. The largest ordinary documents take a tenth of it. */
const DEFAULT_TIMEOUT = 3_000;

const TOO_SLOW: SourceDocument = { status: 'invalid', reason: 'The document takes too long to read' };

/**
 * Parses documents in a worker thread: a document of the largest size would block all other requests for a tenth of a
 * second, and some hostile ones for seconds. One that takes longer than the timeout is invalid.
 */
export function documentParser(timeout = DEFAULT_TIMEOUT): ParseDocument {
  const module = new URL('./document-worker.ts', import.meta.url);
  const parse = workerThread<ReceivedDocument, SourceDocument>(module, { timeout });
  return async (request) => (await parse(request)) ?? TOO_SLOW;
}
