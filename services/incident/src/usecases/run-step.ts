import type { ErrorCode } from '@tocsin/http';
import { later } from '@tocsin/runtime';
import { afterSetback, type StepKey } from '../domain/provisioning.ts';
import { STEP_LEASE, type StepClaim, stepQueue } from '../store/step-queue.ts';
import { toSetback } from './chat-faults.ts';
import { inviteUsergroups } from './invite-usergroups.ts';
import { provisionChannel, type ProvisioningTools } from './provision-channel.ts';

/** How an attempt at a step ended. */
export type Attempt =
  | { outcome: 'succeeded' }
  /** `wait`: milliseconds until the next attempt; `undefined` when there is none. */
  | { outcome: ErrorCode; error: unknown; wait: number | undefined };

/** Each settles its step when it succeeds. */
const STEPS: Record<StepKey, (tools: ProvisioningTools, claim: StepClaim) => Promise<void>> = {
  slack_channel: provisionChannel,
  invite_usergroups: inviteUsergroups,
};

/** Attempts a claimed step of a provisioning, and writes down how that ended (contract: Chat). */
export async function runStep(tools: ProvisioningTools, claim: StepClaim): Promise<Attempt> {
  try {
    await underLease(tools, claim, async () => STEPS[claim.key](tools, claim));
    return { outcome: 'succeeded' };
  } catch (error) {
    const setback = toSetback(error);
    const { errorCode } = setback;
    const { wait, ...counts } = afterSetback(claim, setback);
    const now = tools.clock.now();
    if (wait === undefined) await giveUp(tools, claim, { ...counts, errorCode, now });
    else {
      const dueAt = later(now, wait);
      await stepQueue(tools.database).settle(claim, { ...counts, status: 'pending', errorCode, dueAt, now });
    }
    return { outcome: errorCode, error, wait };
  }
}

/** However long the work takes, its step stays ours; when we die, it is free soon. */
async function underLease(
  { database, clock }: ProvisioningTools,
  claim: StepClaim,
  work: () => Promise<void>,
): Promise<void> {
  const renewal = setInterval(() => {
    // Without a database the work does not get far either.
    void stepQueue(database)
      .extend(claim, clock.now())
      .catch(() => undefined);
  }, STEP_LEASE / 3);
  await work().finally(() => clearInterval(renewal));
}

async function giveUp(
  { database }: ProvisioningTools,
  claim: StepClaim,
  { errorCode, now, ...counts }: { errorCode: ErrorCode; now: string; failures: number; waits: number },
): Promise<void> {
  const failed = { status: 'failed', errorCode, now } as const;
  await database.transaction(async (trx) => {
    const queue = stepQueue(trx);
    const isMine = await queue.settle(claim, { ...failed, ...counts });
    // Nobody can be invited into a channel that there is not.
    if (isMine && claim.key === 'slack_channel') {
      await queue.release({ incidentId: claim.incidentId, key: 'invite_usergroups' }, failed);
    }
  });
}
