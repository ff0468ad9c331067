import {
  type CatalogChangePage,
  changePageQuery,
  INTERNAL_PATHS,
  newServiceTiers,
  type StoredServiceTiers,
  type TiersPreparation,
} from '@tocsin/contracts';
import { internalCommand, type InternalRoute, internalRoute } from '@tocsin/http';
import { z } from 'zod';
import type { Dependencies } from '../usecases/context.ts';
import { prepareTiers, readStoredTiers } from '../usecases/prepare-tiers.ts';
import { readCatalogChangePage } from '../usecases/read-changes.ts';

/** The routes for other services. */
export function internalRoutes({ dependencies }: { dependencies: Dependencies }): InternalRoute[] {
  return [
    internalRoute({
      path: INTERNAL_PATHS.catalogChangePages,
      callers: ['incident'],
      query: changePageQuery,
      handle: async ({ workspace_id: workspaceId, since, after }): Promise<CatalogChangePage> =>
        readCatalogChangePage(dependencies, { workspaceId, since, after }),
    }),
    internalRoute({
      path: INTERNAL_PATHS.serviceTiers,
      callers: ['incident'],
      query: z.strictObject({ workspace_id: z.int().min(1) }),
      handle: async ({ workspace_id: workspaceId }): Promise<StoredServiceTiers> =>
        readStoredTiers(dependencies.database, workspaceId),
    }),
    internalCommand({
      path: INTERNAL_PATHS.serviceTiers,
      callers: ['incident'],
      body: newServiceTiers,
      handle: async (list): Promise<TiersPreparation> => prepareTiers(dependencies.database, list),
    }),
  ];
}
