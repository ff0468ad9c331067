import type { QuotaName, Quotas } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
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

interface Row {
  id: number;
  slug: string;
  name: string;
  is_demo: boolean;
  history_days: string | null;
  reporting_currency: string;
  short_title_required: boolean;
  rate_limit: number | null;
  quotas: Quotas;
  version: number;
  created_at: Instant;
  updated_at: Instant;
}

const COLUMNS = [
  'id',
  'slug',
  'name',
  'is_demo',
  'history_days',
  'reporting_currency',
  'short_title_required',
  'rate_limit',
  'quotas',
  'version',
  'created_at',
  'updated_at',
] as const;

export function workspaceStore(db: Knex) {
  return {
    findBySlug: async (slug: string): Promise<Workspace | undefined> => {
      const row = await db('workspaces').where({ slug }).first<Row | undefined>(COLUMNS);
      return row && fromRow(row);
    },

    find: async (id: number): Promise<Workspace | undefined> => {
      const row = await db('workspaces').where({ id }).first<Row | undefined>(COLUMNS);
      return row && fromRow(row);
    },

    /** All workspaces, by slug. */
    list: async (): Promise<Workspace[]> => {
      const rows = await db('workspaces').orderByRaw('slug collate "C"').select<Row[]>(COLUMNS);
      return rows.map(fromRow);
    },

    hasAny: async (): Promise<boolean> => (await db('workspaces').first('id')) !== undefined,

    findVersion: async (id: number): Promise<number | undefined> => {
      const row = await db('workspaces').where({ id }).first<{ version: number } | undefined>('version');
      return row?.version;
    },

    /**
     * No other transaction creates a workspace until this one ends, so a free slug stays free. The slug is checked
     * before the insert, because a failed insert would use up an ID of the sequence.
     */
    lockCreation: async (): Promise<void> => {
      await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', ['tocsin-gateway-workspaces']);
    },

    insert: async (slug: string, settings: Partial<WorkspaceSettings>, now: Instant): Promise<Workspace> => {
      const [row] = await db('workspaces')
        .insert({
          slug,
          ...toRow(settings),
          quotas: db.raw(changeQuotas(`'{}'::jsonb`), quotaParameters(settings.quotas)),
          created_at: now,
          updated_at: now,
        })
        .returning<Row[]>(COLUMNS);
      return fromRow(row as Row);
    },

    /**
     * For a change of a user. The lock of the row makes versions visible in their order: when a version can be read,
     * all changes with lower versions are committed.
     */
    raiseVersion: async (id: number): Promise<Workspace> => {
      const [row] = await db('workspaces')
        .where({ id })
        .update({ version: db.raw('version + 1') })
        .returning<Row[]>(COLUMNS);
      return fromRow(row as Row);
    },

    /** Raises the version to at least this one, and above its own. */
    raiseVersionAbove: async (id: number, least: number): Promise<Workspace> => {
      const [row] = await db('workspaces')
        .where({ id })
        .update({ version: db.raw('greatest(version + 1, ?)', [least]) })
        .returning<Row[]>(COLUMNS);
      return fromRow(row as Row);
    },

    /** Makes other changes of the workspace's users and keys wait until the transaction ends. */
    lock: async (id: number): Promise<Workspace> => {
      const row = await db('workspaces').where({ id }).forUpdate().first<Row>(COLUMNS);
      return fromRow(row);
    },

    /** Also raises the version. */
    change: async (id: number, settings: Partial<WorkspaceSettings>, now: Instant): Promise<Workspace> => {
      const [row] = await db('workspaces')
        .where({ id })
        .update({
          ...toRow(settings),
          quotas: db.raw(changeQuotas('quotas'), quotaParameters(settings.quotas)),
          version: db.raw('version + 1'),
          updated_at: now,
        })
        .returning<Row[]>(COLUMNS);
      return fromRow(row as Row);
    },
  };
}

const toRow = (settings: Partial<WorkspaceSettings>) => ({
  ...(settings.name !== undefined && { name: settings.name }),
  ...(settings.isDemo !== undefined && { is_demo: settings.isDemo }),
  ...(settings.historyDays !== undefined && { history_days: settings.historyDays }),
  ...(settings.reportingCurrency !== undefined && { reporting_currency: settings.reportingCurrency }),
  ...(settings.shortTitleRequired !== undefined && { short_title_required: settings.shortTitleRequired }),
  ...(settings.rateLimit !== undefined && { rate_limit: settings.rateLimit }),
});

const changeQuotas = (stored: string) => `(${stored} || ?::jsonb) - ?::text[]`;

/** The quotas to set, and the names of those to reset. */
function quotaParameters(changes: QuotaChanges = {}): [string, string[]] {
  const isReset = ([, value]: [string, unknown]) => value === 'default';
  const entries = Object.entries(changes);
  const set = Object.fromEntries(entries.filter((entry) => !isReset(entry)));
  return [JSON.stringify(set), entries.filter(isReset).map(([name]) => name)];
}

const fromRow = (row: Row): Workspace => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  isDemo: row.is_demo,
  historyDays: row.history_days === null ? null : Number(row.history_days),
  reportingCurrency: row.reporting_currency,
  shortTitleRequired: row.short_title_required,
  rateLimit: row.rate_limit,
  quotas: row.quotas,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
