import { checkRevision } from '@tocsin/http';
import { outbox } from '@tocsin/messaging';
import {
  type Caller,
  changedProperties,
  checkNotArchived,
  revise,
  runVersionedTransaction,
  type VersionedTransaction,
} from '@tocsin/resources';
import type { Knex } from '@tocsin/postgres';
import type { OwnerTeam, Service, ServiceProperties } from '../domain/service.ts';
import { getTier } from '../domain/tiers.ts';
import { configurationStore } from '../store/configuration-store.ts';
import { serviceStore } from '../store/service-store.ts';
import type { Dependencies } from './context.ts';
import { withSettledTiers } from './current-tiers.ts';
import { serviceChanged } from './events.ts';
import { serviceProperties, type WireService } from './properties.ts';
import { getActiveTeam } from './team-references.ts';

export interface UpdateServiceCommand extends Caller {
  id: number;
  expectedRevision: number;
  body: WireService;
}

/**
 * Changes properties of an active service (contract: Catalog). Values equal to the stored ones change nothing and are not
 * checked again, so a request may repeat an owner that has been archived since.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateService(dependencies: Dependencies, command: UpdateServiceCommand): Promise<Service> {
  const { principal, id, expectedRevision, body } = command;
  const workspaceId = principal.workspace.id;
  const update = async ({ trx, nextVersion }: VersionedTransaction): Promise<Service> => {
    const store = serviceStore(trx, workspaceId);
    const current = await store.getForUpdate(id);
    checkNotArchived(current);
    checkRevision(current.revision, expectedRevision);
    const requested = serviceProperties(body);
    // Also an unchanged one: earlier releases allowed duplicates.
    if (typeof requested.externalId === 'string') await store.checkExternalId(requested.externalId, id);
    const changed = changedProperties<ServiceProperties>(current, requested);
    if (changed === undefined) return current;

    const owner = await resolveOwner(trx, current, changed.ownerTeamId);
    const version = await nextVersion();
    // Again, under the lock of the version.
    if (typeof changed.externalId === 'string') await store.checkExternalId(changed.externalId, id);
    if (changed.tier !== undefined) getTier(await configurationStore(trx, workspaceId).settled(), changed.tier);
    const service = revise(current, { ...changed, owner }, dependencies.clock.now());
    await store.update(service, version);
    await outbox(trx).add(serviceChanged(command, service, version));
    return service;
  };
  return withSettledTiers(dependencies, workspaceId, async () =>
    runVersionedTransaction(dependencies, command, update),
  );
}

async function resolveOwner(
  trx: Knex.Transaction,
  current: Service,
  id: number | null | undefined,
): Promise<OwnerTeam | null> {
  if (id === undefined) return current.owner;
  return id === null ? null : getActiveTeam(trx, { workspaceId: current.workspaceId, id, field: 'owner_team_id' });
}
