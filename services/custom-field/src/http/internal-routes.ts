import {
  changePageQuery,
  type CustomFieldChangePage,
  type ExportedResources,
  exportedResourcesQuery,
  INTERNAL_PATHS,
  type QuotaUse,
  workspaceQuery,
} from '@tocsin/schemas';
import { internalRoute } from '@tocsin/http';
import { type CommandDependencies, readResourceChanges } from '@tocsin/versioned-resources';
import { fieldStore } from '../store/field-store.ts';
import { exportFields } from '../usecases/export-fields.ts';
import { fields } from '../usecases/fields.ts';

/** The routes for other services. */
export function internalRoutes(dependencies: CommandDependencies) {
  return [
    internalRoute({
      path: INTERNAL_PATHS.customFieldChangePages,
      callers: ['incident'],
      query: changePageQuery,
      handle: async ({ workspace_id: workspaceId, since, after }): Promise<CustomFieldChangePage> =>
        readResourceChanges(dependencies, { workspaceId, since, after }, [fields]),
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
