import {
  changePageQuery,
  type CustomFieldChangePage,
  type ExportedResources,
  exportedResourcesQuery,
  INTERNAL_PATHS,
  type QuotaUse,
  workspaceQuery,
} from '@tocsin/contracts';
import { internalRoute } from '@tocsin/http';
import { fieldStore } from '../store/field-store.ts';
import type { Dependencies } from '../usecases/context.ts';
import { exportFields } from '../usecases/export-fields.ts';
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
    internalRoute({
      path: INTERNAL_PATHS.exportedResources,
      callers: ['incident'],
      query: exportedResourcesQuery,
      handle: async ({ workspace_id: id, after }): Promise<ExportedResources> =>
        exportFields(dependencies.database, id, after),
    }),
    internalRoute({
      path: INTERNAL_PATHS.quotaUse,
      callers: ['gateway'],
      query: workspaceQuery,
      handle: async ({ workspace_id: id }): Promise<QuotaUse> => ({
        used: { custom_fields: await fieldStore(dependencies.database, id).countActive() },
      }),
    }),
  ];
}
