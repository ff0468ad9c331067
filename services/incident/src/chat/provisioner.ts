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
} from '@tocsin/runtime';
import { STEP_KEYS } from './domain/provisioning.ts';
import { type ClaimedStep, stepQueue } from './store/step-queue.ts';
import type { ProvisioningDependencies } from './provision-channel.ts';
import { type AttemptResult, runStep } from './run-step.ts';

export interface ProvisionerOptions {
  dependencies: ProvisioningDependencies;
  log: Logger;
  metrics: Metrics;
}

/** Steps that one process runs at the same time. */
const MAX_CONCURRENCY = 8;
/** Milliseconds between two polls for steps of other processes. */
const POLL_INTERVAL = 1_000;

/** Runs the provisioning steps of incidents (contract: Chat). */
export function startProvisioner({ dependencies, log, metrics }: ProvisionerOptions): Dispatcher {
  const { database, clock } = dependencies;
  const attempts = new Counter({
    name: 'tocsin_provisioning_attempts_total',
    help: 'Attempts of provisioning steps, by step and outcome',
    labelNames: ['step', 'outcome'],
    registers: [metrics],
  });
  // A counter that appears with its first attempt hides that attempt from `rate` and `increase`.
  for (const step of STEP_KEYS) attempts.inc({ step, outcome: 'succeeded' }, 0);
  return startDispatcher({
    name: 'provisioning',
    interval: POLL_INTERVAL,
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
      log.warn(
        { err: failure.error, request_id: requestId, workspace, incident, step, retry_in_ms: failure.wait },
        'provisioning step failed',
      );
    },
  });
}

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
