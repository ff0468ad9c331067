import type { Breakers } from '../clients/breakers.ts';
import type { Outcome } from '../domain/delivery.ts';
import type { Claim } from '../store/claim-store.ts';
import type { Tools } from './context.ts';
import { finishAttempt } from './finish-attempt.ts';
import { type Permit, permitAttempt, releaseClaim } from './permit-attempt.ts';

/** Makes one attempt of a claimed delivery (contract: Deliveries). */
export async function attemptDelivery(tools: Tools, breakers: Breakers, claim: Claim): Promise<void> {
  if (!breakers.admit(claim.host)) {
    await releaseClaim(tools, claim);
    return;
  }
  const started = performance.now();
  let answered: boolean | undefined;
  let permit: Permit | undefined;
  try {
    const url = tools.vault.openUrl(claim.url, claim.subscriptionId);
    const outcome = await tools.sender.post(url, async (ip) => {
      permit = await permitAttempt(tools, claim, ip);
      return permit.kind === 'granted' ? permit.message : undefined;
    });
    if (outcome.kind === 'called_off') {
      if (permit !== undefined) reportUnsent(tools, claim, permit);
      return;
    }
    answered = hasAnswered(outcome);
    const seconds = (performance.now() - started) / 1_000;
    await conclude(tools, { claim, outcome, seconds });
  } finally {
    breakers.conclude(claim.host, answered);
  }
}

/** Undefined where the outcome says nothing about the host. */
function hasAnswered(outcome: Outcome): boolean | undefined {
  if (outcome.kind === 'success' || outcome.status !== undefined) return true;
  return outcome.ours || outcome.reason === 'blocked_address' ? undefined : false;
}

async function conclude(
  tools: Tools,
  { claim, outcome, seconds }: { claim: Claim; outcome: Outcome; seconds: number },
): Promise<void> {
  const { figures, log } = tools;
  const result = outcome.kind === 'success' ? 'succeeded' : outcome.reason;
  figures.attempts.inc({ result });
  figures.duration.observe(seconds);
  const finished = await finishAttempt(tools, claim, outcome);
  const line = {
    ...describe(claim),
    result,
    status: outcome.status,
    duration: Math.round(seconds * 1_000),
  };
  if (finished === undefined) {
    log.info(line, 'an attempt ended after its delivery was cancelled or taken over');
    return;
  }
  const { verdict, stopped } = finished;
  if (verdict.kind === 'succeeded') log.info(line, 'delivered');
  else if (verdict.kind === 'retry') log.info({ ...line, next: verdict.at }, 'an attempt failed');
  else {
    figures.deadLetters.inc({ reason: verdict.because });
    log.warn({ ...line, because: verdict.because }, 'a delivery failed for good');
  }
  if (stopped) log.warn(describe(claim), 'too many failures in a row: the subscription has to be verified again');
}

function reportUnsent({ figures, log }: Tools, claim: Claim, permit: Permit): void {
  if (permit.kind !== 'deferred') {
    log.debug({ ...describe(claim), permit: permit.kind }, 'an attempt was called off');
    return;
  }
  figures.attempts.inc({ result: 'deferred' });
  if (permit.exhausted) figures.deadLetters.inc({ reason: 'exhausted' });
  log[permit.exhausted ? 'warn' : 'info'](
    { ...describe(claim), reason: 'the window of the address is full' },
    permit.exhausted ? 'a delivery failed for good' : 'an attempt was deferred',
  );
}

/** For log lines: of the URL the scheme and the host, and no more. */
const describe = (claim: Claim) => ({
  delivery: claim.deliveryId,
  event: claim.eventId,
  subscription: claim.subscriptionId,
  workspace: claim.workspaceId,
  receiver: claim.origin,
  attempt: claim.attempts,
  request_id: claim.requestId,
});
