import { type CatalogChanges, INTERNAL_PATHS } from '@tocsin/contracts';
import { type InternalRoute, internalRoute, pathId } from '@tocsin/http';
import { z } from 'zod';
import type { Tools } from '../usecases/context.ts';
import { readChanges } from '../usecases/read-changes.ts';

/** What other services ask of this one. */
export function internalRoutes({ tools }: { tools: Tools }): InternalRoute[] {
  return [
    internalRoute({
      path: INTERNAL_PATHS.catalogChanges,
      query: z.strictObject({ workspace_id: pathId, since: z.int().min(0) }),
      handle: async ({ workspace_id: workspaceId, since }): Promise<CatalogChanges> =>
        readChanges(tools, { workspaceId, since }),
    }),
  ];
}
