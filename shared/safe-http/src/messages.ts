import type { IncomingHttpHeaders } from 'node:http';

/** What is sent, once the address is known. */
export interface Prepared {
  headers: Record<string, string>;
  body?: string;
}

export interface SafeRequest {
  /** https. */
  url: string;
  method: 'GET' | 'POST';
  /** From the look-up of the name to the last byte of the answer; milliseconds. */
  timeout: number;
  /** Of the answer's body, as it comes over the wire. */
  maxBodyBytes: number;
  /** Asked when the address is known and allowed, before anything is sent to it; `undefined` calls the request off. */
  prepare: (address: string) => Promise<Prepared | undefined>;
}

export type FaultReason = 'blocked_address' | 'body_too_large' | 'connection' | 'dns' | 'timeout' | 'tls';

export type SafeAnswer =
  /** Complete; only a success (2xx) has its body read. */
  | { kind: 'answer'; status: number; headers: IncomingHttpHeaders; body: Buffer }
  /** `ours`: the fault is on this side. `status` where the answer had begun. */
  | { kind: 'fault'; reason: FaultReason; ours: boolean; status?: number }
  | { kind: 'called_off' };
