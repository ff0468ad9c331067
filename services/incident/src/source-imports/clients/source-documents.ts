import { currentDryRun, FairQueue } from '@tocsin/runtime';
import {
  type AllowedDestinations,
  type DestinationProblem,
  type Egress,
  type FailureReason,
  findDestinationProblem,
  hideDuration,
  HOW_TO_ALLOW,
  isAddressFailure,
  publicOrAllowed,
  type Resolve,
  type SafeResponse,
  safeHttp,
  systemResolver,
} from '@tocsin/safe-http';
import type { ReceivedDocument, SourceDocument } from '../domain/document.ts';
import { documentParser } from './document-parser.ts';

/** Milliseconds from the DNS lookup to the last byte of the document. */
const DEFAULT_TIMEOUT = 10_000;
const MAX_BYTES = 1_048_576;
/**
 * Bounds the memory: each import may hold a whole document, until its events are saved. Slow servers of one workspace
 * must not block the imports of others.
 */
const LIMITS = { all: 64, holder: 16 };

const HEADERS = {
  accept: 'application/json, text/csv, text/markdown, text/plain;q=0.9',
  'accept-encoding': 'identity',
  'user-agent': 'Tocsin-Import/1',
};

/** The result of an import. `reason` is a sentence for users and contains no internal or system details. */
type DocumentResult = SourceDocument | { status: 'failed' | 'unavailable'; reason: string };

interface DocumentRequest {
  url: string;
  workspaceId: number;
  /** Of the workspace. */
  timeZone: string;
}

/** Fetches the documents that timelines are imported from (contract: Timeline imports). */
export interface SourceDocuments {
  /**
   * Fetches a document once, without retries, and returns what `use` makes of it. Failures of the remote server are
   * results and do not reject. The import counts as running until `use` ends. A dry run fetches nothing.
   */
  read<Result>(request: DocumentRequest, use: (document: DocumentResult) => Promise<Result>): Promise<Result>;
}

export interface SourceDocumentsOptions {
  egress: Egress;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
  timeout?: number | undefined;
}

export function sourceDocuments(options: SourceDocumentsOptions): SourceDocuments {
  const { egress, resolve = systemResolver(), ca, timeout = DEFAULT_TIMEOUT } = options;
  const { allowed, proxy } = egress;
  const parse = documentParser();
  const http = safeHttp({ allows: publicOrAllowed(allowed), resolve, ca, proxy });
  /** By the ID of their workspace. */
  const imports = new FairQueue<number>(LIMITS);
  const fetchDocument = async ({ url, timeZone }: DocumentRequest): Promise<DocumentResult> => {
    const start = performance.now();
    const response = await http.request({
      url,
      method: 'GET',
      timeout,
      maxBodyBytes: MAX_BYTES,
      prepare: async () => ({ headers: HEADERS }),
    });
    if (!isAddressFailure(response))
      return toResult(response, async (received) => parse({ ...received, path: new URL(url).pathname, timeZone }));
    await hideDuration(start, timeout);
    return NO_ADDRESS;
  };

  return {
    read: async (request, use) => {
      const { url, workspaceId } = request;
      if (currentDryRun() !== undefined) return use(NOT_FETCHED);
      const urlProblem = findUrlProblem(url, allowed);
      if (urlProblem !== undefined) return use({ status: 'unsupported', reason: urlProblem });
      const lease = imports.tryTake(workspaceId);
      if (lease === undefined) {
        return use({ status: 'failed', reason: 'Too many documents are being imported at the moment' });
      }
      try {
        return await use(await fetchDocument(request));
      } finally {
        lease.release();
      }
    },
  };
}

/** Checks a document's URL before any request, by the same rules as a webhook receiver's. */
function findUrlProblem(text: string, allowed: AllowedDestinations): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'The URL of the document is not an https URL';
  if (url.username !== '' || url.password !== '') return 'The URL of the document contains credentials';
  const problem = findDestinationProblem(url, allowed);
  return problem && `The URL of the document ${PROBLEMS[problem]}; ${HOW_TO_ALLOW}`;
}

const PROBLEMS: Record<DestinationProblem, string> = {
  port: 'does not use port 443',
  address: 'does not have a public address',
  name: 'does not have a public address',
};

/**
 * The same result for a name that does not exist and for one with a private address: a difference would reveal which
 * names the internal network knows.
 */
const NO_ADDRESS: DocumentResult = {
  status: 'failed',
  reason: `No public address was found for the server of the document; ${HOW_TO_ALLOW}`,
};

const NOT_FETCHED: DocumentResult = { status: 'failed', reason: 'A validation does not fetch the document' };

const FAILURES: Record<FailureReason, DocumentResult> = {
  blocked_address: NO_ADDRESS,
  body_too_large: { status: 'invalid', reason: 'The document is larger than 1 MiB' },
  connection: { status: 'failed', reason: 'The connection to the server of the document failed' },
  dns: NO_ADDRESS,
  proxy: NO_ADDRESS,
  timeout: { status: 'failed', reason: 'The document did not arrive in time' },
  tls: { status: 'failed', reason: 'The TLS certificate or protocol of the server is not trusted' },
};

async function toResult(
  response: SafeResponse,
  parse: (received: Pick<ReceivedDocument, 'contentType' | 'body'>) => Promise<SourceDocument>,
): Promise<DocumentResult> {
  if (response.kind === 'failure') return FAILURES[response.reason];
  if (response.kind === 'cancelled')
    throw new Error('a document request was cancelled, but nothing cancels document requests');
  const { status, headers, body } = response;
  if (status < 200 || status > 299) return toStatusResult(status);
  if ((headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity') {
    return { status: 'unsupported', reason: 'The document is compressed' };
  }
  const document = await parse({ contentType: headers['content-type'], body });
  return { ...document, fetchedBytes: body.length };
}

function toStatusResult(status: number): DocumentResult {
  const suffix = `(status ${status})`;
  if (status === 401 || status === 403) {
    return { status: 'unavailable', reason: `The server of the document requires authentication ${suffix}` };
  }
  if (status === 404 || status === 410)
    return { status: 'unavailable', reason: `The document does not exist ${suffix}` };
  if (status >= 300 && status <= 399) {
    return {
      status: 'failed',
      reason: `The server of the document redirects, and redirects are not followed ${suffix}`,
    };
  }
  return { status: 'failed', reason: `The server of the document did not return it ${suffix}` };
}
