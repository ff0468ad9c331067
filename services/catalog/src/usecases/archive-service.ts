import { archive } from '../domain/archiving.ts';
import type { Service } from '../domain/service.ts';
import { serviceStore } from '../store/service-store.ts';
import { change } from './change.ts';
import type { Caller, Tools } from './context.ts';
import { saveService } from './save-service.ts';

/**
 * Takes a service out of use (contract: Catalog): it stays readable, and keeps its slug and its owner.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function archiveService(tools: Tools, command: Caller & { id: number }): Promise<Service> {
  return change(tools, command, async ({ trx, nextVersion }) => {
    const current = await serviceStore(trx, command.principal.workspace.id).getForUpdate(command.id);
    const service = archive(current, tools.clock.now());
    await saveService({ trx, caller: command, service, version: await nextVersion() });
    return service;
  });
}
