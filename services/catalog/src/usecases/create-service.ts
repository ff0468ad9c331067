import type { IdempotencyClaim } from '@tocsin/http';
import type { Service } from '../domain/service.ts';
import { SERVICE_SLUG } from '../domain/slug.ts';
import { chooseTier } from '../domain/tiers.ts';
import { configurationStore } from '../store/configuration-store.ts';
import { serviceStore } from '../store/service-store.ts';
import { change } from './change.ts';
import type { Caller, Tools } from './context.ts';
import { newSlug } from './new-slug.ts';
import { serviceProperties, type WireService } from './properties.ts';
import { getActiveTeam } from './references.ts';
import { announceService } from './save-service.ts';

export interface CreateServiceCommand extends Caller {
  body: WireService & { name: string; slug?: string | undefined };
  claim: IdempotencyClaim | undefined;
  render: (service: Service) => string;
}

/**
 * Adds a service to the catalog (contract: Catalog): the service, its event and the outcome of its Idempotency-Key commit
 * together.
 * @returns the answer's text
 * @throws DomainError `invalid_request` for an owner or tier that is not there, `duplicate_slug`
 */
export async function createService(tools: Tools, command: CreateServiceCommand): Promise<string> {
  const { principal, body, claim, render } = command;
  const workspaceId = principal.workspace.id;
  const findSlug = newSlug(body, SERVICE_SLUG);
  const { ownerTeamId = null, description = null, externalId = null, ...said } = serviceProperties(body);

  return change(tools, command, async ({ trx, nextVersion }) => {
    const owner =
      ownerTeamId === null ? null : await getActiveTeam(trx, { workspaceId, id: ownerTeamId, field: 'owner_team_id' });
    const version = await nextVersion();
    // Read only now: whoever changes the tiers has had to wait, or has finished.
    const tier = chooseTier(await configurationStore(trx, workspaceId).tiers(), body.tier);
    const now = tools.clock.now();
    const service = await serviceStore(trx, workspaceId).insert(
      {
        workspaceId,
        revision: 1,
        name: body.name.trim(),
        slug: await findSlug(trx, { table: 'services', workspaceId }),
        description,
        ownerTeamId,
        owner,
        tier: tier.key,
        tags: said.tags ?? [],
        externalId,
        observabilityNames: said.observabilityNames ?? [],
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      },
      version,
    );
    await announceService({ trx, caller: command, service, version });
    const text = render(service);
    await claim?.finish(trx, { status: 201, text, revision: service.revision });
    return text;
  });
}
