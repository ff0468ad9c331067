import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import type { Field } from '../domain/field.ts';
import { fieldStore } from '../store/field-store.ts';
import { archiveField, restoreField } from '../usecases/archive-field.ts';
import type { Dependencies } from '../usecases/context.ts';
import { createField } from '../usecases/create-field.ts';
import { updateField } from '../usecases/update-field.ts';
import { contracts, type CustomFieldApi } from './contracts.ts';
import { fieldView } from './views.ts';

const { path } = contracts.listCustomFields;
const reply = (field: Field) => ({ body: { field: fieldView(field) }, revision: field.revision });

export function fieldHandlers(dependencies: Dependencies, cursors: Cursors): CustomFieldApi {
  const positions = cursorsOf(cursors, { name: 'sort_order', keys: ['integer', 'timestamp', 'integer'] });
  return {
    listCustomFields: async ({ principal: { workspace }, query }) => {
      const {
        limit = DEFAULT_LIMIT,
        cursor,
        include_archived: includeArchived = false,
        external_id: externalId,
      } = query;
      const scope = { workspaceId: workspace.id, path, filters: { includeArchived, externalId } };
      const after = cursor === undefined ? undefined : positions.decode(cursor, scope);
      const store = fieldStore(dependencies.database, workspace.id);
      const { rows, pagination } = await buildPage({
        listed: await store.list({
          limit: limit + 1,
          includeArchived,
          externalId,
          after: after && { sortOrder: after[0], createdAt: after[1], id: after[2] },
        }),
        limit,
        whole: store.readWhole,
        view: fieldView,
        nextCursor: (last) => positions.encode([last.sortOrder, last.createdAt, last.id], scope),
      });
      return { body: { fields: rows, pagination } };
    },

    createCustomField: async ({ principal, requestId, body }) =>
      reply(await createField(dependencies, { principal, requestId, body })),

    getCustomField: async ({ principal, params: { id } }) =>
      reply(await fieldStore(dependencies.database, principal.workspace.id).get(id)),

    updateCustomField: async ({ principal, requestId, params: { id }, expectedRevision, body }) =>
      reply(await updateField(dependencies, { principal, requestId, id, expectedRevision, body })),

    archiveCustomField: async ({ principal, requestId, params: { id } }) =>
      reply(await archiveField(dependencies, { principal, requestId, id })),

    restoreCustomField: async ({ principal, requestId, params: { id } }) =>
      reply(await restoreField(dependencies, { principal, requestId, id })),
  };
}
