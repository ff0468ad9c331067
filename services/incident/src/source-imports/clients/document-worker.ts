/** A worker thread that parses one document for each message that it gets; see `document-parser.ts`. */
import { parentPort } from 'node:worker_threads';
import { parseSourceDocument } from '../domain/document.ts';
import type { ParseRequest } from './document-parser.ts';

parentPort?.on('message', ({ contentType, body }: ParseRequest) => {
  parentPort?.postMessage(parseSourceDocument(contentType, body));
});
parentPort?.postMessage('ready');
