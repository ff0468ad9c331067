import { contextOfStored, markFailed, recordedSpan, runInContext, startSpanIn } from '@tocsin/runtime';
import type { HostBreakers } from '../requests/clients/breakers.ts';
import type { AnsweredOutcome } from '../requests/clients/sender.ts';
import { internalDelay } from '../queue/domain/delivery.ts';
import { leaseStore } from './store/lease-store.ts';
import { UndecryptableError } from '../subscriptions/secret-cipher.ts';
import { type Attempt, attemptSpan, reportAttempt, type Stage } from './attempt-report.ts';
import { type AttemptDependencies, finishAttempt } from './finish-attempt.ts';
import { prepareAttempt, type PreparedAttempt, releaseClaim } from './prepare-attempt.ts';
import type { Claim } from './store/claim-store.ts';

/**
 * Makes one attempt of a claimed delivery (contract: Deliveries), in the trace of its event: asks the breaker of the host,
 * sends the request, which is counted and signed once its address is known, and records what came of it. Then one log line,
 * one span and the metrics say so.
 */
export async function attemptDelivery(
  dependencies: AttemptDependencies,
  breakers: HostBreakers,
  claim: Claim,
): Promise<void> {
  const parent = contextOfStored(claim.trace);
  const context = parent && startSpanIn(parent, attemptSpan(claim));
  const span = context && recordedSpan(context);
  const started = performance.now();
  try {
    await runInContext(context, async () => {
      const attempt = await makeAttempt(dependencies, breakers, claim);
      reportAttempt(dependencies, claim, { ...attempt, duration: Math.round(performance.now() - started) });
    });
  } catch (error) {
    // The outcome could not be recorded: the delivery is due again when its lease ends.
    if (span !== undefined) markFailed(span, error);
    throw new Error('an attempt could not be recorded', { cause: error });
  } finally {
    span?.end();
  }
}

async function makeAttempt(
  dependencies: AttemptDependencies,
  breakers: HostBreakers,
  claim: Claim,
): Promise<Omit<Attempt, 'duration'>> {
  if (!breakers.admit(claim.host)) {
    await releaseClaim(dependencies, claim);
    return { stage: 'breaker', result: 'released' };
  }
  const { outcome, prepared, ...request } = await send(dependencies, claim);
  breakers.record(claim.host, isHostReachable(outcome));
  if (outcome.kind === 'error') return { ...request, ...(await giveBack(dependencies, claim, outcome.error)) };
  if (outcome.kind === 'cancelled') {
    const result = prepared === undefined || prepared.kind === 'ready' ? 'lost' : prepared.kind;
    const isFinal = prepared?.kind === 'deferred' && prepared.isFinal;
    return { ...request, result, ...(isFinal && { because: 'exhausted' }) };
  }
  const recorded = await finishAttempt(dependencies, claim, { outcome, duration: request.requestDuration });
  const result = outcome.kind === 'success' ? 'succeeded' : outcome.reason;
  return { ...request, result, status: outcome.status, recorded: recorded ?? 'lost' };
}

interface Sent {
  stage: Stage;
  outcome: AnsweredOutcome | { kind: 'cancelled' } | { kind: 'error'; error: unknown };
  prepared: PreparedAttempt | undefined;
  /** Milliseconds, from the lookup of the name to the last byte. */
  requestDuration: number;
  requestBytes: number;
}

/** Sends the request. Never rejects: an error is one of ours, and of the stage that was reached; nothing was sent then. */
async function send(dependencies: AttemptDependencies, claim: Claim): Promise<Sent> {
  const { secretCipher, sender } = dependencies;
  const started = performance.now();
  let stage: Stage = 'decrypt';
  let prepared: PreparedAttempt | undefined;
  let requestBytes = 0;
  const ended = (outcome: Sent['outcome']): Sent => ({
    ...{ stage, outcome, prepared, requestBytes },
    requestDuration: Math.round(performance.now() - started),
  });
  try {
    const destination = secretCipher.decryptDestination(claim.url, claim.subscriptionId);
    stage = 'connect';
    const outcome = await sender.post(destination, async (ip) => {
      stage = 'prepare';
      prepared = await prepareAttempt(dependencies, claim, ip);
      if (prepared.kind !== 'ready') return undefined;
      stage = 'request';
      requestBytes = Buffer.byteLength(prepared.message.body ?? '');
      return prepared.message;
    });
    if (outcome.kind === 'failure' && outcome.reason === 'timeout' && outcome.isLocal)
      throw new Error('the preparation of a request took all of its time');
    return ended(outcome);
  } catch (error) {
    return ended({ kind: 'error', error });
  }
}

/** Undefined when the outcome says nothing about the host. */
function isHostReachable(outcome: Sent['outcome']): boolean | undefined {
  if (outcome.kind === 'error' || outcome.kind === 'cancelled') return undefined;
  if (outcome.kind === 'success' || outcome.status !== undefined) return true;
  return outcome.isLocal || outcome.reason === 'blocked_address' ? undefined : false;
}

/** Ends a claim that failed before its request for a cause of our own. This uses no attempt. */
async function giveBack({ database, time }: AttemptDependencies, claim: Claim, error: unknown) {
  const result = error instanceof UndecryptableError ? 'undecryptable' : 'internal';
  const delay = internalDelay(claim.internalFailures + 1);
  await leaseStore(database).giveBack(claim, { reason: result, delay, time: time.parameter() });
  return { result, error } as const;
}
