import {
  column,
  type ColumnsOf,
  type Listed,
  listedColumns,
  type ListOptions,
  readWhole,
  resourceStore,
  rowMapping,
} from '@tocsin/versioned-resources';
import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Field } from '../domain/field.ts';

/** The column of each property; it has the property's name on the wire. */
export const FIELD_TABLE = {
  id: column('id', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  revision: column('revision', 'bigint'),
  name: column('name', 'text'),
  slug: column('slug', 'text'),
  fieldType: column('field_type', 'text'),
  description: column('description', 'text'),
  defaultValue: column('default_value', 'jsonb'),
  config: column('config', 'jsonb'),
  required: column('required', 'boolean'),
  sortOrder: column('sort_order', 'integer'),
  category: column('category', 'text'),
  visibilityLevel: column('visibility_level', 'text'),
  showOnCreation: column('show_on_creation', 'boolean'),
  requiredOnCreation: column('required_on_creation', 'boolean'),
  autoAddToLayout: column('auto_add_to_layout', 'boolean'),
  externalSource: column('external_source', 'text'),
  externalId: column('external_id', 'text'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
  archivedAt: column('archived_at', 'timestamptz'),
} as const satisfies ColumnsOf<Field>;

export const FIELD_COLUMNS = rowMapping<Field, typeof FIELD_TABLE>(FIELD_TABLE);

const LISTED_COLUMNS = listedColumns({
  table: 'definitions',
  names: FIELD_COLUMNS.names,
  as: FIELD_COLUMNS.propertyOf,
  large: { default_value: 'jsonb', config: 'jsonb' },
});

/** The position of a definition in the list. */
export interface FieldPosition {
  sortOrder: number;
  createdAt: Instant;
  id: number;
}

/** The maximum that the column holds. */
const MAX_SORT_ORDER = 2_147_483_647;

/** The definitions of one workspace, over a pool or a transaction. */
export function fieldStore(db: Knex, workspaceId: number) {
  const store = resourceStore<Field>(db, workspaceId, {
    table: 'definitions',
    label: 'custom field',
    quota: 'custom_fields',
    quotaField: 'name',
    toColumns: FIELD_COLUMNS.toRow,
    selection: FIELD_COLUMNS.selection,
  });
  return {
    ...store,

    /**
     * Returns one more than the highest sort order, archived definitions included. The caller holds the lock of the
     * workspace's version, so no other insertion gets the same one.
     */
    async nextSortOrder(): Promise<number> {
      const [row] = await query<{ highest: number | null }>(db, {
        name: 'find-highest-sort-order',
        text: 'select max(sort_order) as highest from definitions where workspace_id = $1',
        values: [workspaceId],
      });
      return Math.min((row?.highest ?? 0) + 1, MAX_SORT_ORDER);
    },

    /** Lists definitions by sort order, time of creation, then ID, starting after a position. */
    async list(options: ListOptions & { after: FieldPosition | undefined }): Promise<Listed<Field>[]> {
      const fields = store.listed(store.rows().select<Listed<Field>[]>(db.raw(LISTED_COLUMNS)), options);
      void fields.orderBy(['sort_order', 'created_at', 'id']);
      if (options.after !== undefined) {
        const { sortOrder, createdAt, id } = options.after;
        void fields.whereRaw('(sort_order, created_at, id) > (?::integer, ?::timestamptz, ?::bigint)', [
          sortOrder,
          createdAt,
          id,
        ]);
      }
      return fields;
    },

    /** The listed definitions with all their properties, a few at a time. */
    readWhole: (listed: readonly Listed<Field>[]) => readWhole(listed, store.listByIds),
  };
}
