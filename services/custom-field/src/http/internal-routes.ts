import { type CustomFieldChanges, INTERNAL_PATHS } from '@tocsin/contracts';
import { internalRoute } from '@tocsin/http';
import { versionStore } from '@tocsin/runtime';
import { z } from 'zod';
import { definitionSnapshot } from '../domain/snapshot.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Tools } from '../usecases/context.ts';
import { raiseVersion } from '../usecases/publish.ts';

export function internalRoutes(tools: Tools) {
  return [
    internalRoute({
      path: INTERNAL_PATHS.customFieldChanges,
      query: z.strictObject({ workspace_id: z.int().min(1), since: z.int().min(0) }),
      handle: async ({ workspace_id: workspaceId, since }): Promise<CustomFieldChanges> => {
        // Before the rows: what commits in between is among them then, and comes again with the next version.
        const version = await versionStore(tools.database, workspaceId).current();
        const fields = await fieldStore(tools.database, workspaceId).changedSince(since);
        await raiseVersion(tools, workspaceId, version);
        return { version, fields: fields.map(definitionSnapshot) };
      },
    }),
  ];
}
