import type { QuotaName, Quotas } from '@tocsin/schemas';
import { invalidState } from '@tocsin/http';
import { brokenConstraint, type Knex } from '@tocsin/postgres';
import { column, type ColumnsOf, type RowOf, rowMapping } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';

export interface Workspace {
  id: number;
  slug: string;
  name: string;
  isDemo: boolean;
  /** Incidents older than this are hidden from lists; may be fractional. */
  historyDays: number | null;
  reportingCurrency: string;
  shortTitleRequired: boolean;
  /** Requests a minute; null for the installation's default. */
  rateLimit: number | null;
  /** Those that were set. */
  quotas: Quotas;
  /** Counts the changes of the workspace, its configuration and its users. */
  version: number;
  createdAt: Instant;
  updatedAt: Instant;
}

export type WorkspaceSettings = Pick<
  Workspace,
  'name' | 'isDemo' | 'historyDays' | 'reportingCurrency' | 'shortTitleRequired' | 'rateLimit'
> & { quotas: QuotaChanges };

/** The quotas to set; null is unlimited. The others stay. */
type QuotaChanges = Partial<Record<QuotaName, number | null | 'default'>>;

const COLUMNS = {
  id: column('id', 'bigint'),
  slug: column('slug', 'text'),
  name: column('name', 'text'),
  isDemo: column('is_demo', 'boolean'),
  historyDays: column('history_days', 'numeric'),
  reportingCurrency: column('reporting_currency', 'text'),
  shortTitleRequired: column('short_title_required', 'boolean'),
  rateLimit: column('rate_limit', 'integer'),
  quotas: column('quotas', 'jsonb'),
  version: column('version', 'bigint'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
} as const satisfies ColumnsOf<Workspace>;
/** The driver reads a `numeric` as text. */
type Row = Omit<RowOf<Workspace, typeof COLUMNS>, 'history_days'> & { history_days: string | null };
const { names: NAMES, toEntity, toRow } = rowMapping<Workspace, typeof COLUMNS>(COLUMNS);

export function workspaceStore(db: Knex) {
  return {
    findBySlug: async (slug: string): Promise<Workspace | undefined> => {
      const row = await db('workspaces').where({ slug }).first<Row | undefined>(NAMES);
      return row && fromRow(row);
    },

    find: async (id: number): Promise<Workspace | undefined> => {
      const row = await db('workspaces').where({ id }).first<Row | undefined>(NAMES);
      return row && fromRow(row);
    },

    /** All workspaces, by slug. */
    list: async (): Promise<Workspace[]> => {
      const rows = await db('workspaces').orderByRaw('slug collate "C"').select<Row[]>(NAMES);
      return rows.map(fromRow);
    },

    hasAny: async (): Promise<boolean> => (await db('workspaces').first('id')) !== undefined,

    findVersion: async (id: number): Promise<number | undefined> => {
      const row = await db('workspaces').where({ id }).first<{ version: number } | undefined>('version');
      return row?.version;
    },

    /** @throws DomainError `invalid_resource_state` for a slug that another workspace has */
    insert: async (slug: string, settings: Partial<WorkspaceSettings>, now: Instant): Promise<Workspace> => {
      const [row] = await db('workspaces')
        .insert({
          ...toRow({ ...settings, slug, quotas: undefined, createdAt: now, updatedAt: now }),
          quotas: db.raw(changeQuotas(`'{}'::jsonb`), quotaParameters(settings.quotas)),
        })
        .returning<Row[]>(NAMES)
        .catch((error: unknown) => {
          throw brokenConstraint(error) === 'workspaces_slug_key'
            ? invalidState(`The workspace ${slug} exists already`)
            : error;
        });
      return fromRow(row as Row);
    },

    /**
     * For a change of a user. The lock of the row makes versions visible in their order: when a version can be read,
     * all changes with lower versions are committed.
     * @param least the version becomes at least this one
     */
    raiseVersion: async (id: number, least = 0): Promise<Workspace> => {
      const [row] = await db('workspaces')
        .where({ id })
        .update({ version: db.raw('greatest(version + 1, ?)', [least]) })
        .returning<Row[]>(NAMES);
      return fromRow(row as Row);
    },

    /** Makes other changes of the workspace's users and keys wait until the transaction ends. */
    lock: async (id: number): Promise<Workspace> => {
      const row = await db('workspaces').where({ id }).forUpdate().first<Row>(NAMES);
      return fromRow(row);
    },

    /** Also raises the version. */
    change: async (id: number, settings: Partial<WorkspaceSettings>, now: Instant): Promise<Workspace> => {
      const [row] = await db('workspaces')
        .where({ id })
        .update({
          ...toRow({ ...settings, quotas: undefined, updatedAt: now }),
          quotas: db.raw(changeQuotas('quotas'), quotaParameters(settings.quotas)),
          version: db.raw('version + 1'),
        })
        .returning<Row[]>(NAMES);
      return fromRow(row as Row);
    },
  };
}

const changeQuotas = (stored: string) => `(${stored} || ?::jsonb) - ?::text[]`;

/** The quotas to set, and the names of those to reset. */
function quotaParameters(changes: QuotaChanges = {}): [string, string[]] {
  const isReset = ([, value]: [string, unknown]) => value === 'default';
  const entries = Object.entries(changes);
  const set = Object.fromEntries(entries.filter((entry) => !isReset(entry)));
  return [JSON.stringify(set), entries.filter(isReset).map(([name]) => name)];
}

const fromRow = (row: Row): Workspace =>
  toEntity({ ...row, history_days: row.history_days === null ? null : Number(row.history_days) });
