import { type Prepared, publicOrNamed, type Resolve, safeHttp, systemResolver } from '@tocsin/safe-http';
import type { Outcome } from '../domain/delivery.ts';

/** From the look-up of the receiver's name to the last byte of its answer (contract: Deliveries). */
const TIMEOUT = 10_000;
const MAX_ANSWER_BYTES = 65_536;

/** Posts to receivers (contract: Deliveries). */
export interface Sender {
  /** @param prepare see `SafeRequest`; the headers come from it because they are signed at the last moment */
  post(url: string, prepare: (ip: string) => Promise<Prepared | undefined>): Promise<Outcome | { kind: 'called_off' }>;
}

export interface SenderOptions {
  /** `host:port` pairs that may be on loopback. */
  testReceivers: ReadonlySet<string>;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
}

export function sender({ testReceivers, resolve = systemResolver(), ca }: SenderOptions): Sender {
  const http = safeHttp({ allows: publicOrNamed(testReceivers), resolve, ca });
  return {
    async post(url, prepare) {
      const answer = await http.request({
        url,
        method: 'POST',
        timeout: TIMEOUT,
        maxBodyBytes: MAX_ANSWER_BYTES,
        prepare,
      });
      if (answer.kind === 'called_off') return answer;
      if (answer.kind === 'fault') return { ...answer, kind: 'failure' };
      const { status, headers } = answer;
      if (status >= 200 && status <= 299) return { kind: 'success', status };
      return { kind: 'failure', reason: 'status', status, retryAfter: headers['retry-after'], ours: false };
    },
  };
}
