import { type CatalogChangePage, type CatalogChanges, changePageQuery, INTERNAL_PATHS } from '@tocsin/contracts';
import { type InternalRoute, internalRoute, pathId } from '@tocsin/http';
import { z } from 'zod';
import type { Dependencies } from '../usecases/context.ts';
import { readCatalogChangePage, readCatalogChanges } from '../usecases/read-changes.ts';

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
      path: INTERNAL_PATHS.catalogChanges,
      callers: ['incident'],
      query: z.strictObject({ workspace_id: pathId, since: z.int().min(0) }),
      handle: async ({ workspace_id: workspaceId, since }): Promise<CatalogChanges> =>
        readCatalogChanges(dependencies, { workspaceId, since }),
    }),
  ];
}
