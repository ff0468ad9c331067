import { type CatalogChangePage, changePageQuery, INTERNAL_PATHS } from '@tocsin/contracts';
import { type InternalRoute, internalRoute } from '@tocsin/http';
import type { Dependencies } from '../usecases/context.ts';
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
  ];
}
