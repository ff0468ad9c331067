import {
  changePageQuery,
  type CustomFieldChangePage,
  type CustomFieldChanges,
  INTERNAL_PATHS,
} from '@tocsin/contracts';
import { internalRoute } from '@tocsin/http';
import { z } from 'zod';
import type { Dependencies } from '../usecases/context.ts';
import { readFieldChangePage, readFieldChanges } from '../usecases/read-changes.ts';

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
    internalRoute({
      path: INTERNAL_PATHS.customFieldChanges,
      callers: ['incident'],
      query: z.strictObject({ workspace_id: z.int().min(1), since: z.int().min(0) }),
      handle: async ({ workspace_id: workspaceId, since }): Promise<CustomFieldChanges> =>
        readFieldChanges(dependencies, { workspaceId, since }),
    }),
  ];
}
