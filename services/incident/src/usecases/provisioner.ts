import { Counter, type Dispatcher, type Logger, type Metrics, startDispatcher } from '@tocsin/runtime';
import { stepQueue } from '../store/step-queue.ts';
import type { ProvisioningTools } from './provision-channel.ts';
import { runStep } from './run-step.ts';

export interface ProvisionerOptions {
  tools: ProvisioningTools;
  log: Logger;
  metrics: Metrics;
}

/** Steps that a process runs. */
const AT_ONCE = 8;
/** Milliseconds between two looks, for what another process left. */
const INTERVAL = 1_000;

/** Sets up what incidents ask for outside (contract: Chat). */
export function startProvisioner({ tools, log, metrics }: ProvisionerOptions): Dispatcher {
  const { database, clock } = tools;
  const attempts = new Counter({
    name: 'tocsin_provisioning_attempts_total',
    help: 'Attempts at steps of provisioning, by step and outcome',
    labelNames: ['step', 'outcome'],
    registers: [metrics],
  });
  return startDispatcher({
    name: 'provisioning',
    interval: INTERVAL,
    log,
    nextDue: async () => {
      const due = await stepQueue(database).nextDue();
      return due === undefined ? undefined : Date.parse(due) - Date.parse(clock.now());
    },
    claim: async (underWay) => {
      const room = AT_ONCE - underWay;
      return room === 0 ? [] : stepQueue(database).claim({ now: clock.now(), limit: room });
    },
    run: async (claim) => {
      const { incidentId: incident, workspaceId: workspace, requestId, key: step } = claim;
      const { outcome, ...failed } = await runStep(tools, claim);
      attempts.inc({ step, outcome });
      if (!('error' in failed)) return;
      log.warn(
        { err: failed.error, request_id: requestId, workspace, incident, step, retry_in_ms: failed.wait },
        'a step of provisioning did not succeed',
      );
    },
  });
}
