import { checkRevision } from '@tocsin/http';
import type { Incident } from '../domain/incident.ts';
import { archive } from '../domain/lifecycle.ts';
import { incidentStore } from '../store/incident-store.ts';
import { authorOf, type Caller, type Tools } from './context.ts';
import { saveIncident } from './save-incident.ts';

export interface ArchiveCommand extends Caller {
  id: number;
  expectedRevision: number | undefined;
}

/**
 * Puts an incident away: it leaves the lists and becomes read-only (contract: Lifecycle).
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order
 */
export async function archiveIncident(tools: Tools, command: ArchiveCommand): Promise<Incident> {
  const { principal, id, expectedRevision } = command;
  const archived = await tools.database.transaction(async (trx) => {
    const before = await incidentStore(trx, principal.workspace.id).getForUpdate(id);
    const now = tools.clock.now();
    const change = archive(before, principal.user_id, now);
    if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
    return saveIncident({ trx, author: authorOf(command), before, change, now, event: 'incident.archived' });
  });
  tools.wakeRelay();
  return archived;
}
