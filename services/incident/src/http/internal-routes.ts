import { INTERNAL_PATHS, type UnmanagedReferences } from '@tocsin/contracts';
import { internalRoute } from '@tocsin/http';
import { z } from 'zod';
import { unmanagedReferences } from '../store/unmanaged-references.ts';
import type { Tools } from '../usecases/context.ts';

/** What other services ask this one. */
export function internalRoutes({ tools: { database, replicas } }: { tools: Tools }) {
  return [
    internalRoute({
      path: INTERNAL_PATHS.unmanagedReferences,
      query: z.strictObject({ workspace_id: z.int().min(1) }),
      handle: async ({ workspace_id: id }): Promise<UnmanagedReferences> => {
        // A service made a moment ago is managed. The catalog's own version says it all; the workspace's is not needed.
        await replicas.refresh({ id, version: 0 }, 'catalog');
        return unmanagedReferences(database, id);
      },
    }),
  ];
}
