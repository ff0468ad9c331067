/**
 * `chat` is the channels of incidents in the workspace's Slack (contract: Chat) (ADR 14). A command never waits for
 * Slack: it stores steps, in its own transaction, and this dispatcher does them later. It claims due steps with a lease
 * of 15 seconds, one of each workspace at a time, and renews the lease while a step runs. A result is stored only by
 * who still has the lease, so after a crash or a lost lease another process runs the step again. Steps can be repeated:
 * the channel of an attempt that broke off is found by its reserved name and its purpose, and only a message may come
 * twice. Linking a channel locks the incident, and leaves one that is linked meanwhile. Passing failures are tried
 * again by themselves, others when a user asks for it. Previews and new names of channels (`channel-name.ts`) call
 * Slack within the request, and store nothing.
 */
import { DomainError, type ErrorCode } from '@tocsin/http';
import {
  contextOfStored,
  Counter,
  type Dispatcher,
  type Logger,
  markFailed,
  type Metrics,
  recordedSpan,
  runInContext,
  startDispatcher,
  startSpanIn,
  addMilliseconds,
} from '@tocsin/runtime';
import { ChatError } from './clients/chat.ts';
import { afterFailure, WORK_KEYS, type WorkKey } from './domain/provisioning.ts';
import { type ClaimedStep, stepQueue, STEP_LEASE } from './store/provisioning-store.ts';
import { type ProvisioningDependencies, inviteUsergroups, provisionChannel } from './provisioning-steps.ts';
import { toStepFailure } from './chats.ts';
import { postChannelUpdates } from './channel-updates.ts';

interface ProvisionerOptions {
  dependencies: ProvisioningDependencies;
  log: Logger;
  metrics: Metrics;
  /** Milliseconds between two polls; default `POLL_INTERVAL`. */
  interval?: number | undefined;
}

/** Steps that one process runs at the same time. */
const MAX_CONCURRENCY = 8;
/** Milliseconds between two polls for steps of processes that have ended: whoever adds a step wakes its own dispatcher. */
const POLL_INTERVAL = 60_000;

/** Does the background work of incidents in the chat (contract: Chat). */
export function startProvisioner({
  dependencies,
  log,
  metrics,
  interval = POLL_INTERVAL,
}: ProvisionerOptions): Dispatcher {
  const { database, clock } = dependencies;
  const attempts = new Counter({
    name: 'tocsin_provisioning_attempts_total',
    help: 'Attempts of background work in the chat, by step and outcome',
    labelNames: ['step', 'outcome'],
    registers: [metrics],
  });
  // A counter that appears with its first attempt hides that attempt from `rate` and `increase`.
  for (const step of WORK_KEYS) attempts.inc({ step, outcome: 'succeeded' }, 0);
  return startDispatcher({
    name: 'provisioning',
    interval,
    log,
    nextDue: async () => {
      const due = await stepQueue(database).nextDue();
      return due === undefined ? undefined : Date.parse(due) - Date.parse(clock.now());
    },
    claim: async (running) => {
      const free = MAX_CONCURRENCY - running;
      return free === 0 ? [] : stepQueue(database).claim({ now: clock.now(), limit: free });
    },
    run: async (claim, stopping) => {
      const { incidentId: incident, workspaceId: workspace, requestId, key: step } = claim;
      const { outcome, ...failure } = await runInTrace(claim, async () => runStep(dependencies, claim, stopping));
      attempts.inc({ step, outcome });
      if (!('error' in failure)) return;
      const { error, wait } = failure;
      // A workspace without a chat connection is no fault of this process.
      log[outcome === 'slack_not_configured' ? 'info' : 'warn'](
        {
          ...(isExpected(error) ? { reason: error.message } : { err: error }),
          ...{ request_id: requestId, workspace, incident, step, retry_in_ms: wait },
        },
        'provisioning step failed',
      );
    },
  });
}

/** Whether the error says all about itself; of any other one, the log needs the stack. */
const isExpected = (error: unknown): error is DomainError | ChatError =>
  error instanceof DomainError || error instanceof ChatError;

/** In the trace of the request that caused the step. */
async function runInTrace(
  { trace, key, ...counts }: ClaimedStep,
  run: () => Promise<AttemptResult>,
): Promise<AttemptResult> {
  const parent = contextOfStored(trace);
  if (parent === undefined) return run();
  const context = startSpanIn(parent, {
    name: `provision ${key}`,
    kind: 'internal',
    attributes: () => ({ 'tocsin.incident': counts.incidentId, 'tocsin.failures': counts.failures }),
  });
  const span = recordedSpan(context);
  try {
    const result = await runInContext(context, run);
    if (span !== undefined && result.outcome !== 'succeeded') markFailed(span, result.outcome);
    return result;
  } finally {
    span?.end();
  }
}

/** The result of an attempt. */
type AttemptResult =
  | { outcome: 'succeeded' }
  /** `wait`: milliseconds until the next attempt; `undefined` if there is none. */
  | { outcome: ErrorCode; error: unknown; wait: number | undefined };

/** Each marks its step as succeeded. */
const WORK: Record<WorkKey, (dependencies: ProvisioningDependencies, claim: ClaimedStep) => Promise<void>> = {
  slack_channel: provisionChannel,
  invite_usergroups: inviteUsergroups,
  channel_updates: postChannelUpdates,
};

/**
 * Attempts a claimed provisioning step and stores the result (contract: Chat).
 * @param stopping cancels the attempt: then nothing is stored, and the step is due again when its lease expires
 * @throws the cancelled call's error
 */
async function runStep(
  dependencies: ProvisioningDependencies,
  claim: ClaimedStep,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  const chats: ProvisioningDependencies['chats'] = {
    ...dependencies.chats,
    find: async (workspaceId, timeout) => dependencies.chats.find(workspaceId, timeout, stopping),
  };
  try {
    await withLease(dependencies, claim, async () => WORK[claim.key]({ ...dependencies, chats }, claim));
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
      await queue.updateWaiting({ ...claim, key: 'invite_usergroups' }, failed);
    }
  });
}
