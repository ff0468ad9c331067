import { ARCHIVED_FACTOR, MAX_COUNTED_USE, type QuotaName, quotaOf, type WorkspaceContext } from '@tocsin/contracts';
import { DomainError, quotaExceeded } from '@tocsin/http';
import { brokenConstraint, type Knex } from '@tocsin/postgres';
import { numberedSlug, type SlugChoice } from './slug.ts';

/** How many slugs one query checks. */
const BATCH = 100;

/**
 * The writes to a table of one workspace's resources, over a pool or a transaction. The table has the columns `id`,
 * `workspace_id`, `revision`, `slug` and `version` (the workspace's version at the last change), and the constraint
 * `<table>_workspace_id_slug_unique`.
 * It also has the columns `archived_at` and `external_id`.
 * @param options.label the resource as error messages name it: "service"
 * @param options.quota the quota of its active rows
 * @param options.quotaField the field that the refusal of a new row names, which is 400 then instead of 409
 */
export function resourceTable<Kind extends { id: number; revision: number; slug: string }>(
  db: Knex,
  options: {
    table: string;
    label: string;
    quota: Extract<QuotaName, 'teams' | 'services' | 'custom_fields'>;
    quotaField?: string;
    workspaceId: number;
    toColumns: (resource: Omit<Kind, 'id'>) => Record<string, unknown>;
  },
) {
  const { table, label, quota, quotaField, workspaceId, toColumns } = options;
  const rows = () => db(table).where({ workspace_id: workspaceId });
  /** Counts the active rows and all rows, up to a limit each. */
  const count = async (limit: number): Promise<{ active: number; all: number }> => {
    const { rows } = await db.raw<{ rows: [{ active: number; all: number }] }>(
      `select (select count(workspace_id) from
           (select workspace_id from ?? where workspace_id = ? and archived_at is null limit ?) as counted) as active,
         (select count(workspace_id) from (select workspace_id from ?? where workspace_id = ? limit ?) as counted) as all`,
      [table, workspaceId, limit, table, workspaceId, limit],
    );
    return rows[0];
  };
  return {
    /**
     * Checks that the workspace may have one more active row. The caller holds the lock of the workspace's version, as every
     * creation and restoration does. A quota below the present number refuses new rows only.
     * @param options.isNew false for a restoration
     * @throws DomainError `invalid_resource_state`, or `invalid_request` naming `quotaField`
     */
    async checkQuota({ workspace, isNew }: { workspace: WorkspaceContext; isNew: boolean }): Promise<void> {
      const limit = quotaOf(workspace, quota);
      if (limit === null) return;
      const kinds = `${label}s`;
      const field = isNew ? quotaField : undefined;
      const { active, all } = await count(ARCHIVED_FACTOR * limit);
      if (active >= limit) throw quotaExceeded(quota, `at most ${limit} active ${kinds}`, field);
      if (isNew && all >= ARCHIVED_FACTOR * limit) {
        throw quotaExceeded(quota, `at most ${ARCHIVED_FACTOR * limit} ${kinds} with the archived ones`, field);
      }
    },

    /** How much of the quota is used. */
    countActive: async (): Promise<number> => (await count(MAX_COUNTED_USE)).active,

    /**
     * Refuses an external ID that another row of the workspace has, archived ones included. The caller holds the lock of the
     * workspace's version, as every write of one does, so that no other transaction takes it (ADR 56).
     * @param ownId the row that is to have it; `undefined` for a new one
     * @throws DomainError `invalid_resource_state`
     */
    async checkExternalId(externalId: string, ownId?: number): Promise<void> {
      const query = rows().where({ external_id: externalId }).orderBy('id');
      if (ownId !== undefined) void query.whereNot({ id: ownId });
      const row = await query.first<{ id: number } | undefined>('id');
      if (row === undefined) return;
      throw new DomainError('invalid_resource_state', `Another ${label} has the external ID ${externalId}`, {
        field: 'external_id',
        details: { existing_id: row.id },
      });
    },

    /** Locks a row, if it exists, until the transaction ends. */
    async lock(id: number): Promise<void> {
      await rows().where({ id }).forUpdate().select('id');
    },

    /**
     * Returns the slug that a new row gets. A generated one is numbered if any row has it, archived ones included; the
     * caller holds the lock of the workspace's version, as every insertion does, so it is still free at the insertion.
     */
    async resolveSlug({ slug, generated }: SlugChoice): Promise<string> {
      if (!generated) return slug;
      for (let first = 1; ; first += BATCH) {
        const candidates = Array.from({ length: BATCH }, (_, index) => numberedSlug(slug, first + index));
        const found = await rows().whereIn('slug', candidates).select<{ slug: string }[]>('slug');
        const taken = new Set(found.map((row) => row.slug));
        const free = candidates.find((candidate) => !taken.has(candidate));
        if (free !== undefined) return free;
      }
    },

    /**
     * Inserts a resource and returns it with its ID.
     * @throws DomainError `duplicate_slug` if another row of the workspace has the slug, archived ones included
     */
    async insert(resource: Omit<Kind, 'id'>, version: number): Promise<Kind> {
      try {
        const [row] = await db(table)
          .insert({ ...toColumns(resource), version })
          .returning<{ id: number }[]>('id');
        return { ...resource, id: (row as { id: number }).id } as Kind;
      } catch (error) {
        if (brokenConstraint(error) !== `${table}_workspace_id_slug_unique`) throw error;
        throw new DomainError('duplicate_slug', `Another ${label} has or had the slug ${resource.slug}`, {
          field: 'slug',
        });
      }
    },

    /** Writes the next revision of a resource that this transaction has locked. */
    async update(resource: Kind, version: number): Promise<void> {
      const { id, revision } = resource;
      const updated = await rows()
        .where({ id, revision: revision - 1 })
        .update({ ...toColumns(resource), version });
      // Only a caller without the lock gets here; its event must not be committed.
      if (updated !== 1) throw new Error(`${label} ${id} is not at revision ${revision - 1}`);
    },
  };
}
