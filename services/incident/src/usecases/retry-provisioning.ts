import { wrongState } from '@tocsin/http';
import { checkWritable } from '../domain/lifecycle.ts';
import { type Provisioning, STEP_KEYS, type StepKey } from '../domain/provisioning.ts';
import { incidentStore } from '../store/incident-store.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import type { Caller, Tools } from './context.ts';

export interface RetryCommand extends Caller {
  id: number;
  /** Of the failed ones, all unless given. */
  steps: readonly StepKey[] | undefined;
}

/**
 * Asks for the failed steps of an incident's provisioning again (contract: Chat).
 * @throws DomainError `not_found`; `invalid_resource_state` for an archived incident, or when none of the steps has failed
 */
export async function retryProvisioning(tools: Tools, command: RetryCommand): Promise<Provisioning> {
  const { principal, id, steps = STEP_KEYS } = command;
  const provisioning = await tools.database.transaction(async (trx) => {
    const incident = await incidentStore(trx, principal.workspace.id).getForUpdate(id);
    checkWritable(incident);
    const store = provisioningStore(trx);
    if ((await store.retry(id, steps, tools.clock.now())) === 0)
      throw wrongState('No step of the provisioning has failed');
    const asked = await store.find(id);
    const channel = asked?.steps.find(({ key }) => key === 'slack_channel')?.status;
    // Whoever is invited needs the channel first, unless one was linked by hand.
    if (incident.slackChannelId === '' && channel === 'pending') await store.hold(id, 'invite_usergroups');
    return asked;
  });
  tools.wakeProvisioner();
  return provisioning as Provisioning;
}
