import { Counter, type Logger, type Metrics, startSweep } from '@tocsin/runtime';
import { provisioningStore, type StepClaim } from '../store/provisioning-store.ts';
import type { ProvisioningTools } from './provision-channel.ts';
import { runStep } from './run-step.ts';

export interface Provisioner {
  /** Looks at once for steps that are due. */
  wake(): void;
  /** Claims nothing more, and waits for the attempts under way. */
  stop(): Promise<void>;
}

export interface ProvisionerOptions {
  tools: ProvisioningTools;
  log: Logger;
  metrics: Metrics;
}

const AT_ONCE = 8;
/** Milliseconds between two looks, for what another process left. */
const INTERVAL = 1_000;

/**
 * Sets up what incidents ask for outside (contract: Chat). Any number of provisioners may run: what one has claimed no other
 * sees, and what one leaves behind in a crash is claimed again when its lease is over.
 */
export function startProvisioner({ tools, log, metrics }: ProvisionerOptions): Provisioner {
  const { database, clock } = tools;
  const attempts = new Counter({
    name: 'tocsin_provisioning_attempts_total',
    help: 'Attempts at steps of provisioning, by step and outcome',
    labelNames: ['step', 'outcome'],
    registers: [metrics],
  });
  const underWay = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const attempt = async (claim: StepClaim): Promise<void> => {
    const { incidentId: incident, key: step } = claim;
    const { outcome, ...failed } = await runStep(tools, claim);
    attempts.inc({ step, outcome });
    if ('error' in failed) {
      const retry = { retry_in_ms: failed.wait };
      log.warn({ err: failed.error, incident, step, ...retry }, 'a step of provisioning did not succeed');
    }
  };

  const start = (claim: StepClaim) => {
    const running = attempt(claim)
      // The step is free again when its lease is over.
      .catch((error: unknown) => log.error({ err: error, incident: claim.incidentId }, 'a step was interrupted'))
      .finally(() => {
        underWay.delete(running);
        sweep.wake();
      });
    underWay.add(running);
  };

  const look = async (): Promise<boolean> => {
    clearTimeout(timer);
    const room = AT_ONCE - underWay.size;
    if (room === 0) return false;
    const now = clock.now();
    const claims = await provisioningStore(database).claim({ now, limit: room });
    claims.forEach(start);
    if (claims.length > 0) return true;
    const due = await provisioningStore(database).nextDue();
    const wait = due === undefined ? INTERVAL : Date.parse(due) - Date.parse(now);
    if (wait > 0 && wait < INTERVAL) timer = setTimeout(sweep.wake, wait);
    return false;
  };

  const sweep = startSweep({ name: 'provisioning', interval: INTERVAL, log, work: look });
  return {
    wake: sweep.wake,
    stop: async () => {
      await sweep.stop();
      clearTimeout(timer);
      await Promise.all(underWay);
    },
  };
}
