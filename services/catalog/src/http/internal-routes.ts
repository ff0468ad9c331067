import { type CatalogChanges, INTERNAL_PATHS } from '@tocsin/contracts';
import { type InternalRoute, internalRoute, pathId } from '@tocsin/http';
import { z } from 'zod';
import type { Dependencies } from '../usecases/context.ts';
import { readChanges } from '../usecases/read-changes.ts';

/** The routes for other services. */
export function internalRoutes({ dependencies }: { dependencies: Dependencies }): InternalRoute[] {
  return [
    internalRoute({
      path: INTERNAL_PATHS.catalogChanges,
      callers: ['incident'],
      query: z.strictObject({ workspace_id: pathId, since: z.int().min(0) }),
      handle: async ({ workspace_id: workspaceId, since }): Promise<CatalogChanges> =>
        readChanges(dependencies, { workspaceId, since }),
    }),
  ];
}
