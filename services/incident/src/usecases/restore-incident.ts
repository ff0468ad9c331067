import { checkRevision } from '@tocsin/http';
import type { Incident } from '../domain/incident.ts';
import { restore } from '../domain/lifecycle.ts';
import { incidentStore } from '../store/incident-store.ts';
import { authorOf, type Caller, type Tools } from './context.ts';
import { saveIncident } from './save-incident.ts';

export interface RestoreCommand extends Caller {
  id: number;
  expectedRevision: number | undefined;
}

/**
 * Brings an archived incident back as it was (contract: Lifecycle).
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order
 */
export async function restoreIncident(tools: Tools, command: RestoreCommand): Promise<Incident> {
  const { principal, id, expectedRevision } = command;
  const restored = await tools.database.transaction(async (trx) => {
    const before = await incidentStore(trx, principal.workspace.id).getForUpdate(id);
    const change = restore(before);
    if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
    const now = tools.clock.now();
    return saveIncident({ trx, author: authorOf(command), before, change, now, event: 'incident.restored' });
  });
  tools.wakeRelay();
  return restored;
}
