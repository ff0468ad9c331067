import { outbox } from '@tocsin/messaging';
import { archive, type Caller, restore, runVersionedTransaction } from '@tocsin/resources';
import type { Service } from '../domain/service.ts';
import { serviceStore } from '../store/service-store.ts';
import type { Dependencies } from './context.ts';
import { serviceChanged } from './events.ts';
import { checkKeptTeam } from './team-references.ts';

/**
 * Archives a service (contract: Catalog). It stays readable and keeps its slug and its owner.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function archiveService(dependencies: Dependencies, command: Caller & { id: number }): Promise<Service> {
  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    const store = serviceStore(trx, command.principal.workspace.id);
    const current = await store.getForUpdate(command.id);
    const service = archive(current, dependencies.clock.now());
    const version = await nextVersion();
    await store.update(service, version);
    await outbox(trx).add(serviceChanged(command, service, version));
    return service;
  });
}

/**
 * Restores an archived service (contract: Catalog).
 * @throws DomainError `not_found`, `invalid_resource_state` also for the quota, `invalid_relationship_state` if its owner is archived
 */
export async function restoreService(dependencies: Dependencies, command: Caller & { id: number }): Promise<Service> {
  const workspaceId = command.principal.workspace.id;
  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    const store = serviceStore(trx, workspaceId);
    const current = await store.getForUpdate(command.id);
    const service = restore(current, dependencies.clock.now());
    await checkKeptTeam(trx, { workspaceId, id: service.ownerTeamId, field: 'owner_team_id' });
    const version = await nextVersion();
    await store.checkQuota({ workspace: command.principal.workspace, isNew: false });
    await store.update(service, version);
    await outbox(trx).add(serviceChanged(command, service, version));
    return service;
  });
}
