import type { IdempotencyKey } from '@tocsin/http';
import { outbox } from '@tocsin/messaging';
import { type Caller, chooseSlug, runVersionedTransaction, type VersionedTransaction } from '@tocsin/resources';
import { commitPipeline } from '@tocsin/postgres';
import type { Service } from '../domain/service.ts';
import { SERVICE_SLUG } from '../domain/slug-rules.ts';
import { getTier } from '../domain/tiers.ts';
import { configurationStore } from '../store/configuration-store.ts';
import { serviceStore } from '../store/service-store.ts';
import type { Dependencies } from './context.ts';
import { withSettledTiers } from './current-tiers.ts';
import { serviceChanged } from './events.ts';
import { serviceProperties, type WireService } from './properties.ts';
import { getActiveTeam } from './team-references.ts';

export interface CreateServiceCommand extends Caller {
  body: WireService & { name: string; slug?: string | undefined };
  key: IdempotencyKey | undefined;
  render: (service: Service) => string;
}

/**
 * Creates a service (contract: Catalog). The service, its event and the outcome of its Idempotency-Key are committed together.
 * @returns the text of the response
 * @throws DomainError `invalid_request` if the owner or tier does not exist, `invalid_resource_state` for the quota or the external ID,
 *   `duplicate_slug`
 */
export async function createService(dependencies: Dependencies, command: CreateServiceCommand): Promise<string> {
  const { principal, body, key, render } = command;
  const workspaceId = principal.workspace.id;
  const slugChoice = chooseSlug(body, SERVICE_SLUG);
  const {
    ownerTeamId = null,
    description = null,
    externalId = null,
    tags = [],
    observabilityNames = [],
  } = serviceProperties(body);

  const create = async ({ trx, nextVersion }: VersionedTransaction): Promise<string> => {
    await key?.lock(trx);
    const owner =
      ownerTeamId === null ? null : await getActiveTeam(trx, { workspaceId, id: ownerTeamId, field: 'owner_team_id' });
    const version = await nextVersion();
    // Read under the version's lock, so that a concurrent change of the tiers is either committed or waits.
    const tier = getTier(await configurationStore(trx, workspaceId).settled(), body.tier);
    const store = serviceStore(trx, workspaceId);
    await store.checkQuota({ workspace: principal.workspace, isNew: true });
    if (externalId !== null) await store.checkExternalId(externalId);
    const now = dependencies.clock.now();
    const service = await store.insert(
      {
        workspaceId,
        revision: 1,
        name: body.name.trim(),
        slug: await store.resolveSlug(slugChoice),
        description,
        ownerTeamId,
        owner,
        tier: tier.key,
        tags,
        externalId,
        observabilityNames,
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      },
      version,
    );
    await outbox(trx).add(serviceChanged(command, service, version));
    const text = render(service);
    if (key !== undefined) await commitPipeline(trx, [key.outcome({ status: 201, text, revision: service.revision })]);
    return text;
  };
  return withSettledTiers(dependencies, workspaceId, async () =>
    runVersionedTransaction(dependencies, command, create),
  );
}
