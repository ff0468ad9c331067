import { ARCHIVED_FACTOR, MAX_COUNTED_USE, type QuotaName, quotaOf, type WorkspaceContext } from '@tocsin/schemas';
import { DomainError, notFound, quotaExceeded } from '@tocsin/http';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { assignmentsOf, insertOf } from './row-mapping.ts';
import type { StoredResource } from './resource.ts';
import { numberedSlug, type SlugChoice } from './slug.ts';

/** How many slugs one query checks. */
const BATCH = 100;

export interface ResourceTable<Kind extends StoredResource> {
  table: string;
  /** The resource as error messages name it: "service". */
  label: string;
  /** The quota of its active rows. */
  quota: Extract<QuotaName, 'teams' | 'services' | 'custom_fields'>;
  /** The field that the refusal of a new row names, which is 400 then instead of 409. */
  quotaField?: string;
  toColumns: (resource: Omit<Kind, 'id'>) => Record<string, unknown>;
  /** A select list whose rows are resources. */
  selection: string;
  /** Joins the other tables of `selection`, which then qualifies its columns. */
  joins?: string;
}

/** What a list is restricted to, and how many rows it has. */
export interface ListOptions {
  limit: number;
  includeArchived: boolean;
  externalId: string | undefined;
  slug: string | undefined;
  name: string | undefined;
}

export type ResourceStore<Kind extends StoredResource> = ReturnType<typeof resourceStore<Kind>>;

/**
 * A table of one workspace's resources, over a pool or a transaction. It has the columns `id`, `workspace_id`, `revision`,
 * `slug`, `name`, `archived_at`, `external_id` and `version` (the workspace's version at the last change), and slugs are
 * unique in a workspace.
 */
export function resourceStore<Kind extends StoredResource>(
  db: Knex,
  workspaceId: number,
  definition: ResourceTable<Kind>,
) {
  return {
    ...reads(db, workspaceId, definition),
    ...quotaChecks(db, workspaceId, definition),
    ...uniqueNames(db, workspaceId, definition),
    ...writes(db, workspaceId, definition),
  };
}

/** The label in the names of statements. */
const statementName = (label: string) => label.replaceAll(' ', '-');

function reads<Kind extends StoredResource>(
  db: Knex,
  workspaceId: number,
  { table, label, selection, joins = '' }: ResourceTable<Kind>,
) {
  const column = (name: string) => `${table}.${name}`;
  const rows = () => db(table).where({ [column('workspace_id')]: workspaceId });
  const selected = () => rows().joinRaw(joins).select<Kind[]>(db.raw(selection));
  const select = `select ${selection} from ${table} ${joins} where ${table}.workspace_id = $1`;
  const kind = statementName(label);
  const one = ([resource]: Kind[]): Kind => {
    if (resource === undefined) throw notFound(`The ${label}`);
    return resource;
  };
  const get = (id: number): Statement<Kind> => ({
    name: `get-${kind}`,
    text: `${select} and ${table}.id = $2`,
    values: [workspaceId, id],
  });
  return {
    rows,
    selected,

    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<Kind> => one(await query(db, get(id))),

    /** Locks the resource until the transaction ends and returns it. @throws DomainError `not_found` */
    async getForUpdate(id: number): Promise<Kind> {
      // Two statements: one that waited for the lock would join other rows as they were before the wait.
      const lock: Statement = {
        name: `lock-${kind}`,
        text: `select id from ${table} where workspace_id = $1 and id = $2 for update`,
        values: [workspaceId, id],
      };
      const [, resources] = await pipeline(db, [lock, get(id)]);
      return one(resources);
    },

    /** Restricts a query of the table to what a list has. */
    listed: <Query extends Knex.QueryBuilder>(
      resources: Query,
      { limit, includeArchived, externalId, slug, name }: ListOptions,
    ): Query => {
      void resources.limit(limit);
      if (!includeArchived) void resources.whereNull(column('archived_at'));
      for (const [property, value] of Object.entries({ external_id: externalId, slug, name }))
        if (value !== undefined) void resources.where(column(property), value);
      return resources;
    },

    /** Returns the resources by slug, archived ones included, after a slug. */
    listBySlug: async ({ limit, after }: { limit: number; after: string }): Promise<Kind[]> =>
      query<Kind>(db, {
        text: `${select} and ${table}.slug > $2 order by ${table}.slug limit $3`,
        values: [workspaceId, after, limit],
      }),

    /** Returns the resources with these IDs in any order. */
    listByIds: async (ids: readonly number[]): Promise<Kind[]> =>
      query<Kind>(db, {
        name: `find-${kind}s-by-id`,
        text: `${select} and ${table}.id = any((select $2::bigint[])::bigint[])`,
        values: [workspaceId, ids],
      }),
  };
}

function quotaChecks<Kind extends StoredResource>(
  db: Knex,
  workspaceId: number,
  { table, label, quota, quotaField }: ResourceTable<Kind>,
) {
  /** Counts the active rows and all rows, up to a limit each. */
  const count = async (limit: number): Promise<{ active: number; all: number }> => {
    const [row] = await query<{ active: number; all: number }>(db, {
      text: `select (select count(workspace_id) from
           (select workspace_id from ${table} where workspace_id = $1 and archived_at is null limit $2) as counted) as active,
         (select count(workspace_id) from (select workspace_id from ${table} where workspace_id = $1 limit $2) as counted) as all`,
      values: [workspaceId, limit],
    });
    return row as { active: number; all: number };
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
  };
}

/** Slugs and external IDs, which are unique in a workspace. */
function uniqueNames<Kind extends StoredResource>(
  db: Knex,
  workspaceId: number,
  { table, label }: ResourceTable<Kind>,
) {
  const kind = statementName(label);
  const findSlugs = async (texts: readonly string[]): Promise<Set<string>> => {
    const slugs = await query<{ slug: string }>(db, {
      name: `find-slugs-of-${kind}s`,
      text: `select slug from ${table} where workspace_id = $1 and slug = any((select $2::text[])::text[])`,
      values: [workspaceId, texts],
    });
    return new Set(slugs.map(({ slug }) => slug));
  };
  return {
    /** Returns those of the texts that are slugs, of archived resources included. */
    findSlugs,

    /**
     * Refuses an external ID that another row of the workspace has, archived ones included. The caller holds the lock of the
     * workspace's version, as every write of one does, so that no other transaction takes it (ADR 93).
     * @param ownId the row that is to have it; `undefined` for a new one
     * @throws DomainError `invalid_resource_state`
     */
    async checkExternalId(externalId: string | null | undefined, ownId?: number): Promise<void> {
      if (typeof externalId !== 'string') return;
      const [row] = await query<{ id: number }>(db, {
        name: `find-other-${kind}-by-external-id`,
        text: `select id from ${table}
          where workspace_id = $1 and external_id = $2 and id is distinct from $3 order by id limit 1`,
        values: [workspaceId, externalId, ownId ?? null],
      });
      if (row === undefined) return;
      throw new DomainError('invalid_resource_state', `Another ${label} has the external ID ${externalId}`, {
        field: 'external_id',
        details: { existing_id: row.id },
      });
    },

    /**
     * Returns the slug that a new row gets. A generated one is numbered if any row has it, archived ones included; the
     * caller holds the lock of the workspace's version, as every insertion does, so it is still free at the insertion.
     */
    async resolveSlug({ slug, generated }: SlugChoice): Promise<string> {
      if (!generated) return slug;
      for (let first = 1; ; first += BATCH) {
        const candidates = Array.from({ length: BATCH }, (_, index) => numberedSlug(slug, first + index));
        const taken = await findSlugs(candidates);
        const free = candidates.find((candidate) => !taken.has(candidate));
        if (free !== undefined) return free;
      }
    },
  };
}

function writes<Kind extends StoredResource>(
  db: Knex,
  workspaceId: number,
  { table, label, toColumns }: ResourceTable<Kind>,
) {
  const kind = statementName(label);
  return {
    /**
     * Inserts a resource and returns it with its ID.
     * @throws DomainError `duplicate_slug` if another row of the workspace has the slug, archived ones included
     */
    async insert(resource: Omit<Kind, 'id'>, version: number): Promise<Kind> {
      const { text, values } = insertOf(table, { ...toColumns(resource), version });
      const [row] = await query<{ id: number }>(db, {
        name: `insert-${kind}`,
        text: `${text} on conflict (workspace_id, slug) do nothing returning id`,
        values,
      });
      if (row === undefined) {
        throw new DomainError('duplicate_slug', `Another ${label} has or had the slug ${resource.slug}`, {
          field: 'slug',
        });
      }
      return { ...resource, id: row.id } as Kind;
    },

    /** Writes the next revision of a resource that this transaction has locked. */
    async update(resource: Kind, version: number): Promise<void> {
      const { id, ...changed } = resource;
      const { revision } = changed;
      const columns = { ...toColumns(changed), version };
      const updated = await query(db, {
        name: `update-${kind}`,
        text: `update ${table} set ${assignmentsOf(columns, 4)} where workspace_id = $1 and id = $2 and revision = $3
          returning id`,
        values: [workspaceId, id, revision - 1, ...Object.values(columns)],
      });
      // Only a caller without the lock gets here; its event must not be committed.
      if (updated.length !== 1) throw new Error(`${label} ${id} is not at revision ${revision - 1}`);
    },
  };
}
