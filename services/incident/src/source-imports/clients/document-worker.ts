/** A worker thread that parses one document for each message that it gets; see `document-parser.ts`. */
import { parentPort } from 'node:worker_threads';
import { parseSourceDocument, type ReceivedDocument } from '../domain/document.ts';

parentPort?.on('message', (document: ReceivedDocument) => {
  parentPort?.postMessage(parseSourceDocument(document));
});
parentPort?.postMessage('ready');
