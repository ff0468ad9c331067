import { markFailed, recordedSpan, type SpanSpec } from '@tocsin/runtime';
import { type AttemptResult, DEADLINE, type InternalFailure } from '../queue/domain/delivery.ts';
import type { AttemptDependencies, RecordedAttempt } from './finish-attempt.ts';
import type { Claim } from './store/claim-store.ts';

/** How far an attempt came. */
export type Stage = 'breaker' | 'decrypt' | 'connect' | 'prepare' | 'request';

/** What has become of an attempt, for its log line, its span and the metrics. */
export interface Attempt {
  stage: Stage;
  /** `released`: a limit or a pause came first; `lost`: the lease ended, or the delivery was cancelled. */
  result: AttemptResult | InternalFailure | 'released' | 'lost';
  /** Of the response. */
  status?: number | undefined;
  /** Milliseconds of all, and of the request from the lookup of the name to the last byte. */
  duration: number;
  requestDuration?: number;
  requestBytes?: number;
  /** A cause of our own. */
  error?: unknown;
  /** A delivery that was not sent and will not be. */
  because?: string;
  /** What a request that was sent did to the delivery; `lost`: it was cancelled or leased again meanwhile. */
  recorded?: RecordedAttempt | 'lost';
}

export const attemptSpan = ({ deliveryId, subscriptionId, eventId, attempts, redelivery }: Claim): SpanSpec => ({
  name: 'attempt delivery',
  kind: 'internal',
  attributes: () => ({
    'tocsin.delivery': deliveryId,
    'tocsin.subscription': subscriptionId,
    'tocsin.event': eventId,
    'tocsin.attempt': attempts,
    'tocsin.redelivery': redelivery,
  }),
});

/** Writes the line of an attempt, ends what its span says, and counts it. */
export function reportAttempt({ metrics, log }: AttemptDependencies, claim: Claim, attempt: Attempt): void {
  const { stage, result, status, duration, requestDuration = 0, requestBytes = 0, error, recorded } = attempt;
  const { decision, at = '', pausedSubscription: isPaused = false } = recorded === 'lost' ? {} : (recorded ?? {});
  const because = decision?.kind === 'failed' ? decision.reason : attempt.because;
  const isQuiet = result === 'released' || result === 'lost';

  const span = recordedSpan();
  span?.setAttribute('tocsin.result', result);
  span?.setAttribute('tocsin.stage', stage);
  if (span !== undefined && (error !== undefined || (recorded !== undefined && result !== 'succeeded')))
    markFailed(span, error ?? result);

  if (!isQuiet) metrics.attempts.inc({ result });
  if (recorded !== undefined) metrics.duration.observe(requestDuration / 1_000);
  // The deadline is counted from when the delivery was queued; that of a redelivery may be shorter.
  if (decision?.kind === 'succeeded' && claim.redelivery === 0)
    metrics.delay.observe(Math.max(0, Date.parse(at) - Date.parse(claim.deadlineAt) + DEADLINE) / 1_000);
  if (because !== undefined) metrics.deadLetters.inc({ reason: because });
  if (isPaused) metrics.stopped.inc();

  const level = error !== undefined ? 'error' : because !== undefined || isPaused ? 'warn' : isQuiet ? 'debug' : 'info';
  log[level](
    {
      // Of the URL, only the scheme and the host.
      delivery: claim.deliveryId,
      event: claim.eventId,
      subscription: claim.subscriptionId,
      workspace: claim.workspaceId,
      receiver: claim.origin,
      attempt: claim.attempts,
      request_id: claim.requestId,
      ...(claim.redelivery > 0 && { redelivery: claim.redelivery, requested_by: claim.requestedBy }),
      ...{ stage, result, status, duration, request_duration: requestDuration, request_bytes: requestBytes },
      ...(recorded === 'lost' && { is_recorded: false }),
      ...(decision?.kind === 'retry' && { next: decision.at }),
      ...(because !== undefined && { because }),
      ...(isPaused && { pauses_subscription: true }),
      ...(error !== undefined && { err: error }),
    },
    'delivery attempt',
  );
}
