import type { ErrorCode } from '@tocsin/http';
import { addMilliseconds } from '@tocsin/runtime';
import { afterFailure, type StepKey } from './domain/provisioning.ts';
import { STEP_LEASE, type ClaimedStep, stepQueue } from './store/step-queue.ts';
import { toStepFailure } from './chat-errors.ts';
import { inviteUsergroups } from './invite-usergroups.ts';
import { provisionChannel, type ProvisioningDependencies } from './provision-channel.ts';

/** The result of an attempt. */
export type AttemptResult =
  | { outcome: 'succeeded' }
  /** `wait`: milliseconds until the next attempt; `undefined` if there is none. */
  | { outcome: ErrorCode; error: unknown; wait: number | undefined };

/** Each marks its step as succeeded. */
const STEPS: Record<StepKey, (dependencies: ProvisioningDependencies, claim: ClaimedStep) => Promise<void>> = {
  slack_channel: provisionChannel,
  invite_usergroups: inviteUsergroups,
};

/**
 * Attempts a claimed provisioning step and stores the result (contract: Chat).
 * @param stopping cancels the attempt: then nothing is stored, and the step is due again when its lease expires
 * @throws the cancelled call's error
 */
export async function runStep(
  dependencies: ProvisioningDependencies,
  claim: ClaimedStep,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  const chats: ProvisioningDependencies['chats'] = {
    ...dependencies.chats,
    find: async (workspaceId, timeout) => dependencies.chats.find(workspaceId, timeout, stopping),
  };
  try {
    await withLease(dependencies, claim, async () => STEPS[claim.key]({ ...dependencies, chats }, claim));
    return { outcome: 'succeeded' };
  } catch (error) {
    // A cancelled call is not a failure of the chat.
    if (stopping.aborted) throw error;
    const failure = toStepFailure(error);
    const { errorCode } = failure;
    const { wait, ...counts } = afterFailure(claim, failure);
    const now = dependencies.clock.now();
    if (wait === undefined) await failStep(dependencies, claim, { ...counts, errorCode, now });
    else {
      const dueAt = addMilliseconds(now, wait);
      await stepQueue(dependencies.database).finish(claim, { ...counts, status: 'pending', errorCode, dueAt, now });
    }
    return { outcome: errorCode, error, wait };
  }
}

/** Renews the lease while the work runs; after a crash the lease expires soon. */
async function withLease(
  { database, clock }: ProvisioningDependencies,
  claim: ClaimedStep,
  work: () => Promise<void>,
): Promise<void> {
  const renewal = setInterval(() => {
    // The error is ignored: without the database the work fails too.
    void stepQueue(database)
      .extendLease(claim, clock.now())
      .catch(() => undefined);
  }, STEP_LEASE / 3);
  await work().finally(() => clearInterval(renewal));
}

async function failStep(
  { database }: ProvisioningDependencies,
  claim: ClaimedStep,
  { errorCode, now, ...counts }: { errorCode: ErrorCode; now: string; failures: number; waits: number },
): Promise<void> {
  const failed = { status: 'failed', errorCode, now } as const;
  await database.transaction(async (trx) => {
    const queue = stepQueue(trx);
    const isOurs = await queue.finish(claim, { ...failed, ...counts });
    // Without the channel the invitations fail too.
    if (isOurs && claim.key === 'slack_channel') {
      await queue.updateWaiting({ incidentId: claim.incidentId, key: 'invite_usergroups' }, failed);
    }
  });
}
