import { buildPage, type Cursors, cursorsOf, implement, type Route } from '@tocsin/http';
import { type CommandDependencies, readListQuery, resourceHandlers } from '@tocsin/versioned-resources';
import type { Field } from '../domain/field.ts';
import { FIELD_COLUMNS, fieldStore } from '../store/field-store.ts';
import { fieldCommands, fieldProperties, fields } from '../usecases/fields.ts';
import { contracts } from './contracts.ts';
import type { FieldWire } from './wire.ts';

const { path } = contracts.listCustomFields;
const fieldView = (field: Field): FieldWire => FIELD_COLUMNS.toWire(field) as FieldWire;

export function fieldRoutes(dependencies: CommandDependencies, cursors: Cursors): Route[] {
  const { database } = dependencies;
  const one = resourceHandlers({
    database,
    kind: fields,
    commands: fieldCommands(dependencies),
    properties: fieldProperties,
    bodyOf: (field) => ({ field: fieldView(field) }),
  });
  const positions = cursorsOf(cursors, { name: 'sort_order', keys: ['integer', 'timestamp', 'integer'] });
  return implement(contracts, {
    listCustomFields: async ({ principal: { workspace }, query }) => {
      const { limit, scope, listed, after } = readListQuery(query, { workspaceId: workspace.id, path, positions });
      const store = fieldStore(database, workspace.id);
      const { rows, pagination } = await buildPage({
        listed: await store.list({
          ...listed,
          after: after && { sortOrder: after[0], createdAt: after[1], id: after[2] },
        }),
        limit,
        whole: store.readWhole,
        view: fieldView,
        nextCursor: (last) => positions.encode([last.sortOrder, last.createdAt, last.id], scope),
      });
      return { body: { fields: rows, pagination } };
    },

    getCustomField: one.get,
    createCustomField: one.create,
    updateCustomField: one.update,
    archiveCustomField: one.archive,
    restoreCustomField: one.restore,
  });
}
