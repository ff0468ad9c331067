import { type PreparedRequest, publicOrAllowed, type Resolve, safeHttp, systemResolver } from '@tocsin/safe-http';
import type { Outcome } from '../domain/delivery.ts';

/** From the DNS lookup to the last byte of the response; milliseconds (contract: Deliveries). */
const TIMEOUT = 10_000;
const MAX_RESPONSE_BYTES = 65_536;

/** Posts to receivers (contract: Deliveries). */
export interface Sender {
  /**
   * @param prepare see `SafeRequest`; returns the headers too, because requests are signed right before they are sent
   */
  post(
    url: string,
    prepare: (ip: string) => Promise<PreparedRequest | undefined>,
  ): Promise<Outcome | { kind: 'cancelled' }>;
}

export interface SenderOptions {
  /** `host:port` pairs that may be on loopback. */
  testReceivers: ReadonlySet<string>;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
}

export function sender({ testReceivers, resolve = systemResolver(), ca }: SenderOptions): Sender {
  const http = safeHttp({ allows: publicOrAllowed(testReceivers), resolve, ca });
  return {
    async post(url, prepare) {
      const response = await http.request({
        url,
        method: 'POST',
        timeout: TIMEOUT,
        maxBodyBytes: MAX_RESPONSE_BYTES,
        prepare,
      });
      if (response.kind !== 'response') return response;
      const { status, headers } = response;
      if (status >= 200 && status <= 299) return { kind: 'success', status };
      return { kind: 'failure', reason: 'status', status, retryAfter: headers['retry-after'], isLocal: false };
    },
  };
}
