import {
  type CatalogChangePage,
  changePageQuery,
  type ExportedResources,
  exportedResourcesQuery,
  INTERNAL_PATHS,
  type Memberships,
  membershipsQuery,
  newServiceTiers,
  onCallQuery,
  type QuotaUse,
  type StoredServiceTiers,
  type TiersPreparation,
  type UsersOnCall,
  workspaceQuery,
} from '@tocsin/schemas';
import { internalCommand, type InternalRoute, internalRoute } from '@tocsin/http';
import { readResourceChanges } from '@tocsin/versioned-resources';
import { teamsOf } from '../store/member-store.ts';
import { serviceStore } from '../store/service-store.ts';
import { teamStore } from '../store/team-store.ts';
import type { Dependencies } from '../usecases/context.ts';
import { prepareTiers, readStoredTiers } from '../usecases/prepare-tiers.ts';
import { usersOnCall } from '../usecases/on-call.ts';
import { exportResources } from '../usecases/export-resources.ts';
import { services } from '../usecases/services.ts';
import { teams } from '../usecases/teams.ts';

type Change = ReturnType<(typeof teams | typeof services)['snapshot']>;

/** The routes for other services. */
export function internalRoutes(dependencies: Dependencies): InternalRoute[] {
  return [
    internalRoute({
      path: INTERNAL_PATHS.catalogChangePages,
      callers: ['incident'],
      query: changePageQuery,
      handle: async ({ workspace_id: workspaceId, since, after }): Promise<CatalogChangePage> => {
        const page = await readResourceChanges<Change>(dependencies, { workspaceId, since, after }, [teams, services]);
        // After the version was read: the tiers have every change up to it.
        const { tiers } = await dependencies.currentTiers(workspaceId);
        return {
          ...page,
          tiers: tiers.map(({ key, label, order, isDefault }) => ({ key, label, order, is_default: isDefault })),
        };
      },
    }),
    internalRoute({
      path: INTERNAL_PATHS.exportedResources,
      callers: ['incident'],
      query: exportedResourcesQuery,
      handle: async ({ workspace_id: id, ...page }): Promise<ExportedResources> =>
        exportResources(dependencies.database, id, page),
    }),
    internalRoute({
      path: INTERNAL_PATHS.memberships,
      callers: ['incident'],
      query: membershipsQuery,
      handle: async ({ workspace_id: workspaceId, user_id: userId }): Promise<Memberships> => ({
        team_ids: await teamsOf(dependencies.database, workspaceId, userId),
      }),
    }),
    internalCommand({
      path: INTERNAL_PATHS.onCall,
      callers: ['incident'],
      body: onCallQuery,
      handle: async ({ workspace_id: workspaceId, team_ids: teamIds }): Promise<UsersOnCall> => {
        const users = await usersOnCall(dependencies, { workspaceId, teamIds });
        return { teams: users.map(({ teamId, userId }) => ({ team_id: teamId, user_id: userId })) };
      },
    }),
    internalRoute({
      path: INTERNAL_PATHS.serviceTiers,
      callers: ['incident'],
      query: workspaceQuery,
      handle: async ({ workspace_id: workspaceId }): Promise<StoredServiceTiers> =>
        readStoredTiers(dependencies.database, workspaceId),
    }),
    internalCommand({
      path: INTERNAL_PATHS.serviceTiers,
      callers: ['incident'],
      body: newServiceTiers,
      handle: async (list): Promise<TiersPreparation> => prepareTiers(dependencies.database, list),
    }),
    internalRoute({
      path: INTERNAL_PATHS.quotaUse,
      callers: ['gateway'],
      query: workspaceQuery,
      handle: async ({ workspace_id: id }): Promise<QuotaUse> => {
        const stores = [teamStore(dependencies.database, id), serviceStore(dependencies.database, id)];
        const [teams = 0, services = 0] = await Promise.all(stores.map(async ({ countActive }) => countActive()));
        return { used: { teams, services } };
      },
    }),
  ];
}
