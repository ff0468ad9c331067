import { invalidState } from '@tocsin/http';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { type Provisioning, STEP_KEYS, type StepKey } from './domain/provisioning.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { provisioningStore } from './store/provisioning-store.ts';
import type { Caller } from '@tocsin/resources';
import type { Dependencies } from '../dependencies.ts';

export interface RetryCommand extends Caller {
  id: number;
  /** The failed steps to retry; default: all. */
  steps: readonly StepKey[] | undefined;
}

/**
 * Retries the failed steps of an incident's provisioning (contract: Chat).
 * @throws DomainError `not_found`; `invalid_resource_state` if the incident is archived or none of the steps has failed
 */
export async function retryProvisioning(dependencies: Dependencies, command: RetryCommand): Promise<Provisioning> {
  const { principal, id, steps = STEP_KEYS } = command;
  const provisioning = await dependencies.database.transaction(async (trx) => {
    const incident = await incidentStore(trx, principal.workspace.id).getForUpdate(id);
    checkWritable(incident);
    const store = provisioningStore(trx);
    if ((await store.retry(id, steps, dependencies.clock.now())) === 0)
      throw invalidState('No step of the provisioning has failed');
    const retried = await store.find(id);
    const channel = retried?.steps.find(({ key }) => key === 'slack_channel')?.status;
    // Invitations wait for the channel unless a channel is linked already.
    if (incident.slackChannelId === '' && channel === 'pending') await store.makeWait(id, 'invite_usergroups');
    return retried;
  });
  dependencies.wakeProvisioner();
  return provisioning as Provisioning;
}
