import { DomainError, notFound } from '@tocsin/http';
import { brokenConstraint, type Instant, type Knex } from '@tocsin/runtime';
import type { Field, NewField } from '../domain/field.ts';
import { alternative } from '../domain/slug.ts';
import { FIELD_COLUMNS, type FieldRow, toColumns, toField } from './field-row.ts';

/** The position of a definition in the list. */
export interface FieldPosition {
  sortOrder: number;
  createdAt: Instant;
  id: number;
}

/** As many as are looked up at once. */
const CHOICES = 100;
/** The most that the column holds. */
const LAST_SORT_ORDER = 2_147_483_647;

/** Definitions of one workspace, over a pool or a transaction. */
export function fieldStore(db: Knex, workspaceId: number) {
  const fields = () => db<FieldRow>('definitions').where({ workspace_id: workspaceId });
  const one = (row: FieldRow | undefined): Field => {
    if (row === undefined) throw notFound('The custom field');
    return toField(row);
  };
  return {
    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<Field> => one(await fields().where({ id }).first(FIELD_COLUMNS)),

    /** Locked until the transaction ends, so that what is judged is what is changed. @throws DomainError `not_found` */
    getForUpdate: async (id: number): Promise<Field> =>
      one(await fields().where({ id }).forUpdate().first(FIELD_COLUMNS)),

    /**
     * The first of `slug`, `slug_2`, `slug_3` and so on that no definition has or had. Nobody else takes it meanwhile: the
     * caller holds the lock of the workspace's version, as everybody does who inserts. The same goes for the sort order.
     */
    async freeSlug(slug: string): Promise<string> {
      for (let first = 1; ; first += CHOICES) {
        const choices = Array.from({ length: CHOICES }, (_, index) => alternative(slug, first + index));
        const rows = await fields().whereIn('slug', choices).select('slug');
        const taken = new Set(rows.map((row) => row.slug));
        const free = choices.find((choice) => !taken.has(choice));
        if (free !== undefined) return free;
      }
    },

    /** One more than the highest, archived definitions included. */
    async nextSortOrder(): Promise<number> {
      const [row] = await db('definitions')
        .where({ workspace_id: workspaceId })
        .max<{ highest: number | null }[]>({ highest: 'sort_order' });
      return Math.min((row?.highest ?? 0) + 1, LAST_SORT_ORDER);
    },

    /** @throws DomainError `duplicate_slug` for one that any definition of the workspace has or had */
    async insert(field: NewField, version: number): Promise<Field> {
      try {
        const [row] = await db('definitions')
          .insert({ ...toColumns(field), version })
          .returning<{ id: number }[]>('id');
        return { ...field, id: (row as { id: number }).id };
      } catch (error) {
        if (brokenConstraint(error) === 'definitions_workspace_id_slug_unique') {
          throw new DomainError('duplicate_slug', `A custom field has or had the slug ${field.slug}`, {
            field: 'slug',
          });
        }
        throw error;
      }
    },

    /** Writes a definition that this transaction has locked. */
    async update(field: Field, version: number): Promise<void> {
      await db('definitions')
        .where({ workspace_id: workspaceId, id: field.id, revision: field.revision - 1 })
        .update({ ...toColumns(field), version });
    },

    /** By sort order, time of creation, then ID, after a position in that order. */
    async list(options: {
      limit: number;
      includeArchived: boolean;
      after: FieldPosition | undefined;
    }): Promise<Field[]> {
      const query = fields().select(FIELD_COLUMNS).orderBy(['sort_order', 'created_at', 'id']).limit(options.limit);
      if (!options.includeArchived) void query.whereNull('archived_at');
      if (options.after !== undefined) {
        const { sortOrder, createdAt, id } = options.after;
        void query.whereRaw('(sort_order, created_at, id) > (?::integer, ?::timestamptz, ?::bigint)', [
          sortOrder,
          createdAt,
          id,
        ]);
      }
      return (await query).map(toField);
    },

    /** Those that changed after a version. */
    changedSince: async (version: number): Promise<Field[]> =>
      (await fields().where('version', '>', version).orderBy('id').select(FIELD_COLUMNS)).map(toField),
  };
}
