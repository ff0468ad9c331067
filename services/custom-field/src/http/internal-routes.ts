import { type CustomFieldChanges, INTERNAL_PATHS } from '@tocsin/contracts';
import { internalRoute } from '@tocsin/http';
import { raiseVersion } from '@tocsin/resources';
import { versionStore } from '@tocsin/runtime';
import { z } from 'zod';
import { definitionSnapshot } from '../domain/snapshot.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Dependencies } from '../usecases/context.ts';

/** The routes for other services. */
export function internalRoutes(dependencies: Dependencies) {
  return [
    internalRoute({
      path: INTERNAL_PATHS.customFieldChanges,
      callers: ['incident'],
      query: z.strictObject({ workspace_id: z.int().min(1), since: z.int().min(0) }),
      handle: async ({ workspace_id: workspaceId, since }): Promise<CustomFieldChanges> => {
        // The version before the rows: a change that commits in between is returned again next time, and none is missed.
        const version = await versionStore(dependencies.database, workspaceId).current();
        const fields = await fieldStore(dependencies.database, workspaceId).changedSince(since);
        await raiseVersion(dependencies, { workspaceId, version });
        return { version, fields: fields.map(definitionSnapshot) };
      },
    }),
  ];
}
