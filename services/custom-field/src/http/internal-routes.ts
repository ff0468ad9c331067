import { changePageQuery, type CustomFieldChangePage, INTERNAL_PATHS } from '@tocsin/contracts';
import { internalRoute } from '@tocsin/http';
import type { Dependencies } from '../usecases/context.ts';
import { readFieldChangePage } from '../usecases/read-changes.ts';

/** The routes for other services. */
export function internalRoutes(dependencies: Dependencies) {
  return [
    internalRoute({
      path: INTERNAL_PATHS.customFieldChangePages,
      callers: ['incident'],
      query: changePageQuery,
      handle: async ({ workspace_id: workspaceId, since, after }): Promise<CustomFieldChangePage> =>
        readFieldChangePage(dependencies, { workspaceId, since, after }),
    }),
  ];
}
