import type { ServiceSnapshot } from '@tocsin/schemas';
import { normaliseList } from '@tocsin/http';
import { resourceCommands, type ResourceKind, type WireOf } from '@tocsin/versioned-resources';
import { SERVICE_SLUG, type Service, type ServiceProperties, serviceSnapshot } from '../domain/service.ts';
import { getTier } from '../domain/tiers.ts';
import { configurationStore } from '../store/configuration-store.ts';
import { SERVICE_COLUMNS, type SERVICE_TABLE, serviceStore } from '../store/service-store.ts';
import type { Dependencies } from './context.ts';
import { withSettledTiers } from './current-tiers.ts';
import { checkKeptTeam, getActiveTeam } from './team-references.ts';

export const services: ResourceKind<Service, { service: ServiceSnapshot }> = {
  table: 'services',
  event: 'service.changed',
  slug: SERVICE_SLUG,
  store: serviceStore,
  snapshot: (service) => ({ service: serviceSnapshot(service) }),
};

/** The properties of a service in a validated request, with their wire names. */
export type WireService = WireOf<ServiceProperties, typeof SERVICE_TABLE>;

/** Returns the properties that a request contains, in the form in which they are stored. */
export const serviceProperties = (wire: WireService): Partial<ServiceProperties> =>
  SERVICE_COLUMNS.toProperties({
    ...wire,
    name: wire.name?.trim(),
    external_id: wire.external_id?.trim() ?? wire.external_id,
    tags: wire.tags && normaliseList(wire.tags),
    observability_names: wire.observability_names && normaliseList(wire.observability_names),
  });

/** The commands on services (contract: Catalog). An archived one keeps its slug and its owner. */
export const serviceCommands = (dependencies: Dependencies) =>
  resourceCommands<Service, ServiceProperties>(dependencies, services, {
    defaults: {
      ...{ ownerTeamId: null, owner: null, description: null, externalId: null, runbookUrl: null },
      ...{ tags: [], observabilityNames: [] },
    },
    run: async (workspaceId, work) => withSettledTiers(dependencies, workspaceId, work),
    check: async ({ trx, workspaceId, changed: { ownerTeamId: id } }) => {
      if (id === undefined) return {};
      const owner = id === null ? null : await getActiveTeam(trx, { workspaceId, id, field: 'owner_team_id' });
      return { owner };
    },
    checkLocked: async ({ trx, workspaceId, current, changed }) => {
      if (current !== undefined && changed.tier === undefined) return {};
      // Read under the version's lock, so that a concurrent change of the tiers is either committed or waits.
      const { key } = getTier(await configurationStore(trx, workspaceId).settled(), changed.tier);
      return { tier: key };
    },
    checkRestored: async (trx, { workspaceId, ownerTeamId: id }) =>
      checkKeptTeam(trx, { workspaceId, id, field: 'owner_team_id' }),
  });
