import type { IncomingHttpHeaders } from 'node:http';

/** Headers and body of a request, prepared once the address is known. */
export interface PreparedRequest {
  headers: Record<string, string>;
  body?: string;
}

export interface SafeRequest {
  /** An https URL. */
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** From the DNS lookup to the last byte of the response; milliseconds. */
  timeout: number;
  /** Limit of the response body in bytes, as transferred (before any decompression). */
  maxBodyBytes: number;
  /** Whether the body of a response that is no success is read, too; default: false. */
  readsRefusals?: boolean;
  /**
   * How many bytes of the body are kept, of whatever response; default: all of a complete one. A refusal has a second for
   * them, and counts without them.
   */
  keptBytes?: number;
  /**
   * Called with the allowed address before anything is sent to it; returning `undefined` cancels the request. If another
   * address of the name answers, it is called again with that one. Where a proxy resolves the name, it is the name.
   */
  prepare: (address: string) => Promise<PreparedRequest | undefined>;
}

/** `proxy`: the proxy of the operator cannot be reached, or opens no connection to the host. */
export type FailureReason = 'blocked_address' | 'body_too_large' | 'connection' | 'dns' | 'proxy' | 'timeout' | 'tls';

export type SafeResponse =
  /** A complete response. Only the body of a success (2xx) is read, unless the request says otherwise. */
  | { kind: 'response'; status: number; headers: IncomingHttpHeaders; body: Buffer }
  /**
   * `isLocal`: the failure is on our side. `status` is set when the response headers had arrived, and `body` with
   * `keptBytes`.
   */
  | { kind: 'failure'; reason: FailureReason; isLocal: boolean; status?: number; body?: Buffer }
  | { kind: 'cancelled' };
