import { Counter, type Dispatcher, type Logger, type Metrics, startDispatcher } from '@tocsin/runtime';
import { STEP_KEYS } from '../domain/provisioning.ts';
import { stepQueue } from '../store/step-queue.ts';
import type { ProvisioningDependencies } from './provision-channel.ts';
import { runStep } from './run-step.ts';

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
      const { outcome, ...failure } = await runStep(dependencies, claim, stopping);
      attempts.inc({ step, outcome });
      if (!('error' in failure)) return;
      log.warn(
        { err: failure.error, request_id: requestId, workspace, incident, step, retry_in_ms: failure.wait },
        'provisioning step failed',
      );
    },
  });
}
