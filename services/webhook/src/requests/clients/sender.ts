/**
 * `requests` is one signed request to a receiver (contract: Webhooks, Deliveries). `domain/` has its body, its
 * signature and the limits: requests in a minute and at once, in all and of a workspace, a host name and an address.
 * They are counted in the database, under the lock of one row (`store/limit-store.ts`), and so hold over all processes;
 * a slot is free again after 20 seconds if its process has died. This file looks the name up, and connects only to
 * addresses that are allowed. Before the request is sent, `prepare` gets the address: there its limits are checked, and
 * the request is signed. A complete 2xx in time is a success. `breakers.ts` keeps slots free for others while a host
 * does not respond; it is in memory only.
 */
import { currentDryRun, inSpan, markFailed, requestSpan, type Span, traceHeaders } from '@tocsin/runtime';
import {
  type Egress,
  type PreparedRequest,
  publicOrAllowed,
  type Resolve,
  safeHttp,
  type SafeResponse,
  systemResolver,
} from '@tocsin/safe-http';
import type { Outcome } from '../../queue/domain/delivery.ts';
import { ANSWER_BYTES, answerText } from '../domain/answer.ts';
import type { Destination, ReceiverHeaders } from '../domain/destination.ts';

const TIMEOUT = 10_000;
const MAX_RESPONSE_BYTES = 65_536;

/** What came of a request, and the beginning of what the receiver said, also if it refuses. */
export type AnsweredOutcome = Outcome & { answer?: string | null };

/** Posts to receivers (contract: Deliveries). */
export interface Sender {
  /**
   * A dry run sends nothing, looks up no name and does not call `prepare`: it assumes that the receiver accepts.
   * @param prepare see `SafeRequest`; returns the headers too, because requests are signed right before they are sent
   */
  post(
    destination: Destination,
    prepare: (ip: string) => Promise<PreparedRequest | undefined>,
  ): Promise<AnsweredOutcome | { kind: 'cancelled' }>;
}

export interface SenderOptions {
  egress: Egress;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
  /** From the DNS lookup to the last byte of the response; milliseconds (contract: Deliveries). */
  timeout?: number | undefined;
}

export function sender({ egress, resolve = systemResolver(), ca, timeout = TIMEOUT }: SenderOptions): Sender {
  const { allowed, proxy } = egress;
  const http = safeHttp({ allows: publicOrAllowed(allowed), resolve, ca, proxy });
  return {
    post: async (destination, prepare) => {
      const { url, headers: receiverHeaders } = destination;
      if (currentDryRun() !== undefined) return ACCEPTED;
      return inSpan(requestSpan('POST', new URL(url)), async (span) => {
        const response = await http.request({
          url,
          method: 'POST',
          timeout,
          maxBodyBytes: MAX_RESPONSE_BYTES,
          keptBytes: ANSWER_BYTES,
          prepare: async (ip) => withHeaders(receiverHeaders, withTrace(await prepare(ip))),
        });
        if (response.kind === 'cancelled') return response;
        const outcome = outcomeOf(response);
        if (span !== undefined) recordOutcome(span, outcome);
        return { ...outcome, answer: response.body === undefined ? null : answerText(response.body, destination) };
      });
    },
  };
}

/** Adds `traceparent`, but not `tracestate`: that is for the systems behind the client. */
function withTrace(prepared: PreparedRequest | undefined): PreparedRequest | undefined {
  const trace = traceHeaders();
  if (prepared === undefined || trace === undefined) return prepared;
  return { ...prepared, headers: { ...prepared.headers, traceparent: trace.traceparent } };
}

/** Adds the headers of the receiver, which replace none. */
const withHeaders = (
  receiverHeaders: ReceiverHeaders,
  prepared: PreparedRequest | undefined,
): PreparedRequest | undefined => prepared && { ...prepared, headers: { ...receiverHeaders, ...prepared.headers } };

const ACCEPTED: Outcome = { kind: 'success', status: 200 };

function outcomeOf(response: Exclude<SafeResponse, { kind: 'cancelled' }>): Outcome {
  if (response.kind === 'failure') {
    const { body: _, ...failure } = response;
    return failure;
  }
  const { status, headers } = response;
  if (status >= 200 && status <= 299) return { kind: 'success', status };
  return { kind: 'failure', reason: 'status', status, retryAfter: headers['retry-after'], isLocal: false };
}

function recordOutcome(span: Span, outcome: Outcome): void {
  if (outcome.status !== undefined) span.setAttribute('http.response.status_code', outcome.status);
  if (outcome.kind === 'failure')
    markFailed(span, outcome.reason === 'status' ? String(outcome.status) : outcome.reason);
}
