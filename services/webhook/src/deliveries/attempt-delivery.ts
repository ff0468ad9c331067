import { contextOfStored, markFailed, recordedSpan, runInContext, type SpanSpec, startSpanIn } from '@tocsin/runtime';
import type { HostBreakers } from '../requests/clients/breakers.ts';
import { DEADLINE, internalDelay, type Outcome } from '../queue/domain/delivery.ts';
import type { Claim } from './store/claim-store.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { type AttemptDependencies, type EndedRequest, finishAttempt } from './finish-attempt.ts';
import { prepareAttempt, type PreparedAttempt, releaseClaim } from './prepare-attempt.ts';
import { UndecryptableError } from '../subscriptions/secret-cipher.ts';

/** Makes one attempt of a claimed delivery (contract: Deliveries), in the trace of its event. */
export async function attemptDelivery(
  dependencies: AttemptDependencies,
  breakers: HostBreakers,
  claim: Claim,
): Promise<void> {
  const parent = contextOfStored(claim.trace);
  const context = parent && startSpanIn(parent, attemptSpan(claim));
  const span = context && recordedSpan(context);
  try {
    await runInContext(context, async () => attempt(dependencies, breakers, claim));
  } catch (error) {
    if (span !== undefined) markFailed(span, error);
    throw error;
  } finally {
    span?.end();
  }
}

const attemptSpan = ({ deliveryId, subscriptionId, eventId, attempts, redelivery }: Claim): SpanSpec => ({
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

async function attempt(dependencies: AttemptDependencies, breakers: HostBreakers, claim: Claim): Promise<void> {
  if (!breakers.admit(claim.host)) {
    await releaseClaim(dependencies, claim);
    return;
  }
  const started = performance.now();
  let isReachable: boolean | undefined;
  let prepared: PreparedAttempt | undefined;
  try {
    let outcome: Outcome | { kind: 'cancelled' };
    try {
      const destination = dependencies.secretCipher.decryptDestination(claim.url, claim.subscriptionId);
      outcome = await dependencies.sender.post(destination, async (ip) => {
        prepared = await prepareAttempt(dependencies, claim, ip);
        return prepared.kind === 'ready' ? prepared.message : undefined;
      });
      if (outcome.kind === 'failure' && outcome.reason === 'timeout' && outcome.isLocal)
        throw new Error('the preparation of a request took all of its time');
    } catch (error) {
      // Nothing was sent: `post` rejects only before the request.
      await giveBack(dependencies, claim, error);
      return;
    }
    if (outcome.kind === 'cancelled') {
      if (prepared !== undefined) reportUnsent(dependencies, claim, prepared);
      return;
    }
    isReachable = isHostReachable(outcome);
    const duration = Math.round(performance.now() - started);
    await recordOutcome(dependencies, claim, { outcome, duration });
  } finally {
    breakers.record(claim.host, isReachable);
  }
}

/** Ends a claim that failed before its request for a cause of our own. This uses no attempt. */
async function giveBack(dependencies: AttemptDependencies, claim: Claim, error: unknown): Promise<void> {
  const { database, time, metrics, log } = dependencies;
  const reason = error instanceof UndecryptableError ? 'undecryptable' : 'internal';
  const span = recordedSpan();
  if (span !== undefined) markFailed(span, error);
  metrics.attempts.inc({ result: reason });
  log.error({ ...describe(claim), reason, err: error }, 'a delivery could not be sent for an internal failure');
  const delay = internalDelay(claim.internalFailures + 1);
  await deliveryStore(database).giveBack(claim, { reason, delay, time: time.parameter() });
}

/** Undefined when the outcome says nothing about the host. */
function isHostReachable(outcome: Outcome): boolean | undefined {
  if (outcome.kind === 'success' || outcome.status !== undefined) return true;
  return outcome.isLocal || outcome.reason === 'blocked_address' ? undefined : false;
}

async function recordOutcome(
  dependencies: AttemptDependencies,
  claim: Claim,
  { outcome, duration }: EndedRequest,
): Promise<void> {
  const { metrics, log } = dependencies;
  const result = outcome.kind === 'success' ? 'succeeded' : outcome.reason;
  const span = recordedSpan();
  if (span !== undefined && outcome.kind === 'failure') markFailed(span, outcome.reason);
  metrics.attempts.inc({ result });
  metrics.duration.observe(duration / 1_000);
  const recorded = await finishAttempt(dependencies, claim, { outcome, duration });
  const fields = {
    ...describe(claim),
    result,
    status: outcome.status,
    duration,
  };
  if (recorded === undefined) {
    log.info(fields, 'an attempt ended after its delivery was cancelled or leased again');
    return;
  }
  const { decision, at, pausedSubscription } = recorded;
  if (decision.kind === 'succeeded') {
    log.info(fields, 'delivered');
    // The deadline is counted from when the delivery was queued; that of a redelivery may be shorter.
    const queuedAt = Date.parse(claim.deadlineAt) - DEADLINE;
    if (claim.redelivery === 0) metrics.delay.observe(Math.max(0, Date.parse(at) - queuedAt) / 1_000);
  } else if (decision.kind === 'retry') log.info({ ...fields, next: decision.at }, 'an attempt failed');
  else {
    metrics.deadLetters.inc({ reason: decision.reason });
    log.warn({ ...fields, because: decision.reason }, 'a delivery failed permanently');
  }
  if (pausedSubscription) {
    metrics.stopped.inc();
    log.warn(describe(claim), 'too many consecutive failures: the subscription must be verified again');
  }
}

function reportUnsent({ metrics, log }: AttemptDependencies, claim: Claim, prepared: PreparedAttempt): void {
  if (prepared.kind !== 'deferred') {
    log.debug({ ...describe(claim), state: prepared.kind }, 'an attempt was cancelled before it was sent');
    return;
  }
  metrics.attempts.inc({ result: 'deferred' });
  if (prepared.isFinal) metrics.deadLetters.inc({ reason: 'exhausted' });
  log[prepared.isFinal ? 'warn' : 'info'](
    { ...describe(claim), reason: 'the window of the address is full' },
    prepared.isFinal ? 'a delivery failed permanently' : 'an attempt was deferred',
  );
}

/** Log fields of a claim. They contain only the scheme and the host of the URL. */
const describe = (claim: Claim) => ({
  delivery: claim.deliveryId,
  event: claim.eventId,
  subscription: claim.subscriptionId,
  workspace: claim.workspaceId,
  receiver: claim.origin,
  attempt: claim.attempts,
  request_id: claim.requestId,
  ...(claim.redelivery > 0 && { redelivery: claim.redelivery, requested_by: claim.requestedBy }),
});
