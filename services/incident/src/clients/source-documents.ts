import {
  type FaultReason,
  hostAndPort,
  publicOrNamed,
  type Resolve,
  type SafeAnswer,
  safeHttp,
  systemResolver,
} from '@tocsin/safe-http';
import { readSourceDocument, type SourceReading } from '../domain/source/document.ts';

/** From the look-up of the server's name to the document's last byte; milliseconds. */
const TIMEOUT = 10_000;
const MAX_BYTES = 1_048_576;
/** More at once than anybody imports: each may hold a whole document in memory. */
const MOST_AT_ONCE = 64;
/** Of these for one workspace, so that slow servers of one never keep the others from importing. */
const MOST_OF_ONE = 16;

const HEADERS = {
  accept: 'application/json, text/csv, text/markdown',
  'accept-encoding': 'identity',
  'user-agent': 'Tocsin-Import/1',
};

/** What became of a document. `reason` is a sentence for people, without anything of ours or of the system's in it. */
export type DocumentReading = SourceReading | { status: 'failed' | 'unavailable'; reason: string };

/** Reads documents that timelines are imported from (contract: Timeline imports). */
export interface SourceDocuments {
  /** Asks for a workspace's document once. Never rejects for what the other side does. */
  read(url: string, workspaceId: number): Promise<DocumentReading>;
}

export interface SourceDocumentsOptions {
  /** `host:port` pairs that may be on loopback and on any port. */
  testReceivers: ReadonlySet<string>;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
  timeout?: number | undefined;
}

export function sourceDocuments(options: SourceDocumentsOptions): SourceDocuments {
  const { testReceivers, resolve = systemResolver(), ca, timeout = TIMEOUT } = options;
  const http = safeHttp({ allows: publicOrNamed(testReceivers), resolve, ca });
  /** The workspaces whose documents are being read, once for each. */
  const underWay: number[] = [];
  return {
    read: async (text, workspaceId) => {
      const refusal = refuse(text, testReceivers);
      if (refusal !== undefined) return { status: 'unsupported', reason: refusal };
      if (underWay.length >= MOST_AT_ONCE || underWay.filter((id) => id === workspaceId).length >= MOST_OF_ONE) {
        return { status: 'failed', reason: 'Too many documents are being imported just now' };
      }
      underWay.push(workspaceId);
      try {
        return toReading(
          await http.request({
            url: text,
            method: 'GET',
            timeout,
            maxBodyBytes: MAX_BYTES,
            prepare: async () => ({ headers: HEADERS }),
          }),
        );
      } finally {
        underWay.splice(underWay.indexOf(workspaceId), 1);
      }
    },
  };
}

/** What speaks against a document's URL before anybody is asked: the same as against a webhook receiver's. */
function refuse(text: string, testReceivers: ReadonlySet<string>): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'The document is not at an https URL';
  if (url.username !== '' || url.password !== '') return "The document's URL contains credentials";
  return url.port === '' || testReceivers.has(hostAndPort(url)) ? undefined : 'The document is not on port 443';
}

const FAULTS: Record<FaultReason, DocumentReading> = {
  blocked_address: { status: 'unsupported', reason: 'The document is not at a public address' },
  body_too_large: { status: 'invalid', reason: 'The document is larger than 1 MiB' },
  connection: { status: 'failed', reason: 'The connection to the server of the document failed' },
  dns: { status: 'failed', reason: 'The address of the server of the document could not be found out' },
  timeout: { status: 'failed', reason: 'The document did not arrive in time' },
  tls: { status: 'failed', reason: 'The server of the document offers no secure connection that can be trusted' },
};

function toReading(answer: SafeAnswer): DocumentReading {
  if (answer.kind === 'fault') return FAULTS[answer.reason];
  if (answer.kind === 'called_off') throw new Error('nobody calls a document off');
  const { status, headers, body } = answer;
  if (status < 200 || status > 299) return toRefusal(status);
  if ((headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity') {
    return { status: 'unsupported', reason: 'The document is compressed' };
  }
  return readSourceDocument(headers['content-type'], body);
}

function toRefusal(status: number): DocumentReading {
  const said = `(status ${status})`;
  if (status === 401 || status === 403) {
    return { status: 'unavailable', reason: `The document may not be read without signing in ${said}` };
  }
  if (status === 404 || status === 410) return { status: 'unavailable', reason: `The document is not there ${said}` };
  if (status >= 300 && status <= 399) {
    return { status: 'failed', reason: `The document is somewhere else, and redirects are not followed ${said}` };
  }
  return { status: 'failed', reason: `The server of the document did not hand it out ${said}` };
}
