import { restore } from '../domain/archiving.ts';
import type { Service } from '../domain/service.ts';
import { serviceStore } from '../store/service-store.ts';
import { change } from './change.ts';
import type { Caller, Tools } from './context.ts';
import { checkRetained } from './references.ts';
import { saveService } from './save-service.ts';

/**
 * Puts an archived service back into use (contract: Catalog).
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_relationship_state` while its owner is archived
 */
export async function restoreService(tools: Tools, command: Caller & { id: number }): Promise<Service> {
  const workspaceId = command.principal.workspace.id;
  return change(tools, command, async ({ trx, nextVersion }) => {
    const current = await serviceStore(trx, workspaceId).getForUpdate(command.id);
    const service = restore(current, tools.clock.now());
    await checkRetained(trx, { workspaceId, id: service.ownerTeamId, field: 'owner_team_id' });
    await saveService({ trx, caller: command, service, version: await nextVersion() });
    return service;
  });
}
