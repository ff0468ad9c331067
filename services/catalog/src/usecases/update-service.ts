import { checkRevision } from '@tocsin/http';
import { checkWritable } from '../domain/archiving.ts';
import { differences } from '../domain/differences.ts';
import type { OwnerTeam, Service } from '../domain/service.ts';
import { chooseTier } from '../domain/tiers.ts';
import { configurationStore } from '../store/configuration-store.ts';
import { serviceStore } from '../store/service-store.ts';
import { change, type Change } from './change.ts';
import type { Caller, Tools } from './context.ts';
import { serviceProperties, type WireService } from './properties.ts';
import { getActiveTeam } from './references.ts';
import { saveService } from './save-service.ts';

export interface UpdateServiceCommand extends Caller {
  id: number;
  expectedRevision: number;
  body: WireService;
}

/**
 * Changes some properties of an active service (contract: Catalog). Values equal to the stored ones change nothing, so an
 * owner that is archived by now may be named again.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateService(tools: Tools, command: UpdateServiceCommand): Promise<Service> {
  const { principal, id, expectedRevision, body } = command;
  const workspaceId = principal.workspace.id;
  return change(tools, command, async ({ trx, nextVersion }) => {
    const current = await serviceStore(trx, workspaceId).getForUpdate(id);
    checkWritable(current);
    checkRevision(current.revision, expectedRevision);
    const changed = differences(current, serviceProperties(body));
    if (changed === undefined) return current;

    const owner = await newOwner(trx, current, changed.ownerTeamId);
    const version = await nextVersion();
    if (changed.tier !== undefined) chooseTier(await configurationStore(trx, workspaceId).tiers(), changed.tier);
    const service = {
      ...current,
      ...changed,
      owner,
      revision: current.revision + 1,
      updatedAt: tools.clock.now(),
    };
    await saveService({ trx, caller: command, service, version });
    return service;
  });
}

async function newOwner(
  trx: Change['trx'],
  current: Service,
  id: number | null | undefined,
): Promise<OwnerTeam | null> {
  if (id === undefined) return current.owner;
  return id === null ? null : getActiveTeam(trx, { workspaceId: current.workspaceId, id, field: 'owner_team_id' });
}
