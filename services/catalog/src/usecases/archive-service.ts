import { outbox } from '@tocsin/messaging';
import { archive, type Caller, restore, runVersionedTransaction } from '@tocsin/resources';
import type { Service } from '../domain/service.ts';
import { serviceStore } from '../store/service-store.ts';
import type { Dependencies } from './context.ts';
import { serviceChanged } from './events.ts';
import { checkKeptTeam } from './team-references.ts';

type ArchiveServiceCommand = Caller & { id: number };

/**
 * Archives a service (contract: Catalog). It stays readable and keeps its slug and its owner.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export const archiveService = async (dependencies: Dependencies, command: ArchiveServiceCommand): Promise<Service> =>
  changeState(dependencies, command, archive);

/**
 * Restores an archived service (contract: Catalog).
 * @throws DomainError `not_found`, `invalid_resource_state` also for the quota, `invalid_relationship_state` if its owner is archived
 */
export const restoreService = async (dependencies: Dependencies, command: ArchiveServiceCommand): Promise<Service> =>
  changeState(dependencies, command, restore);

async function changeState(
  dependencies: Dependencies,
  command: ArchiveServiceCommand,
  transition: typeof archive,
): Promise<Service> {
  const { workspace } = command.principal;
  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    const store = serviceStore(trx, workspace.id);
    const service = transition(await store.getForUpdate(command.id), dependencies.clock.now());
    const isActive = service.archivedAt === null;
    if (isActive) {
      await checkKeptTeam(trx, { workspaceId: workspace.id, id: service.ownerTeamId, field: 'owner_team_id' });
    }
    const version = await nextVersion();
    if (isActive) await store.checkQuota({ workspace, isNew: false });
    await store.update(service, version);
    await outbox(trx).add(serviceChanged(command, service, version));
    return service;
  });
}
