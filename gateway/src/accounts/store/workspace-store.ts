import type { QuotaName, Quotas } from '@tocsin/schemas';
import { invalidState } from '@tocsin/http';
import { brokenConstraint, type Knex, query } from '@tocsin/postgres';
import { assignmentsOf, column, type ColumnsOf, insertOf, rowMapping } from '@tocsin/versioned-resources';
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
  /** Since when nobody gets in; null: people do. */
  suspendedAt: Instant | null;
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
  'name' | 'isDemo' | 'historyDays' | 'reportingCurrency' | 'shortTitleRequired' | 'suspendedAt' | 'rateLimit'
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
  suspendedAt: column('suspended_at', 'timestamptz'),
  rateLimit: column('rate_limit', 'integer'),
  quotas: column('quotas', 'jsonb'),
  version: column('version', 'bigint'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
} as const satisfies ColumnsOf<Workspace>;
/** The driver reads a `numeric` as text. */
type Row = Omit<Workspace, 'historyDays'> & { historyDays: string | null };
const { selection: SELECTION, toRow } = rowMapping<Workspace, typeof COLUMNS>(COLUMNS);

export function workspaceStore(db: Knex) {
  return {
    findBySlug: async (slug: string): Promise<Workspace | undefined> => {
      const [row] = await query<Row>(db, {
        name: 'find-workspace-by-slug',
        text: `select ${SELECTION} from workspaces where slug = $1`,
        values: [slug],
      });
      return row && fromRow(row);
    },

    find: async (id: number): Promise<Workspace | undefined> => {
      const [row] = await query<Row>(db, {
        name: 'find-workspace',
        text: `select ${SELECTION} from workspaces where id = $1`,
        values: [id],
      });
      return row && fromRow(row);
    },

    /** All workspaces, by slug. */
    list: async (): Promise<Workspace[]> => {
      const rows = await query<Row>(db, { text: `select ${SELECTION} from workspaces order by slug collate "C"` });
      return rows.map(fromRow);
    },

    hasAny: async (): Promise<boolean> => (await query(db, { text: 'select id from workspaces limit 1' })).length > 0,

    /** @throws DomainError `invalid_resource_state` for a slug that another workspace has */
    insert: async (slug: string, settings: Partial<WorkspaceSettings>, now: Instant): Promise<Workspace> => {
      const { quotas } = quotaChanges(settings.quotas);
      const { text, values } = insertOf(
        'workspaces',
        toRow({ ...settings, slug, quotas, createdAt: now, updatedAt: now }),
      );
      const [row] = await query<Row>(db, { text: `${text} returning ${SELECTION}`, values }).catch((error: unknown) => {
        throw brokenConstraint(error) === 'workspaces_slug_key'
          ? invalidState(`The workspace ${slug} exists already`)
          : error;
      });
      return fromRow(row as Row);
    },

    /** Makes other changes of the workspace's users and keys wait until the transaction ends. */
    lock: async (id: number): Promise<Workspace> => {
      const [row] = await query<Row>(db, {
        name: 'lock-workspace',
        text: `select ${SELECTION} from workspaces where id = $1 for update`,
        values: [id],
      });
      return fromRow(row as Row);
    },

    /** Also raises the version. */
    change: async (id: number, settings: Partial<WorkspaceSettings>, now: Instant): Promise<Workspace> => {
      const { quotas, reset } = quotaChanges(settings.quotas);
      const columns = toRow({ ...settings, quotas: undefined, updatedAt: now });
      const [row] = await query<Row>(db, {
        name: 'change-workspace',
        text: `update workspaces set quotas = (quotas || $2::jsonb) - $3::text[], version = version + 1,
            ${assignmentsOf(columns, 4)}
          where id = $1 returning ${SELECTION}`,
        values: [id, JSON.stringify(quotas), reset, ...Object.values(columns)],
        isComposed: true,
      });
      return fromRow(row as Row);
    },
  };
}

/** The versions of workspaces, which replicas of their users follow. */
export function workspaceVersions(db: Knex) {
  return {
    find: async (id: number): Promise<number | undefined> => {
      const [row] = await query<{ version: number }>(db, {
        name: 'find-workspace-version',
        text: 'select version from workspaces where id = $1',
        values: [id],
      });
      return row?.version;
    },

    /**
     * For a change of a user. The lock of the row makes versions visible in their order: when a version can be read,
     * all changes with lower versions are committed.
     * @param least the version becomes at least this one
     */
    raise: async (id: number, least = 0): Promise<Workspace> => {
      const [row] = await query<Row>(db, {
        name: 'raise-version-of-users',
        text: `update workspaces set version = greatest(version + 1, $2) where id = $1 returning ${SELECTION}`,
        values: [id, least],
      });
      return fromRow(row as Row);
    },
  };
}

/** The quotas to set, and the names of those to reset. */
function quotaChanges(changes: QuotaChanges = {}): { quotas: Quotas; reset: string[] } {
  const isReset = ([, value]: [string, unknown]) => value === 'default';
  const entries = Object.entries(changes);
  return {
    quotas: Object.fromEntries(entries.filter((entry) => !isReset(entry))) as Quotas,
    reset: entries.filter(isReset).map(([name]) => name),
  };
}

const fromRow = (row: Row): Workspace => ({
  ...row,
  historyDays: row.historyDays === null ? null : Number(row.historyDays),
});
