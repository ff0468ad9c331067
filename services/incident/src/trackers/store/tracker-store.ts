import { notFound } from '@tocsin/http';
import { type Knex, newId, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import { assignmentsOf, column, type ColumnsOf, insertOf, rowMapping } from '@tocsin/versioned-resources';
import type { Tracker } from '../domain/tracker.ts';

type Stored = Omit<Tracker, 'lastFailure'>;

const COLUMNS = {
  id: column('id', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  revision: column('revision', 'bigint'),
  name: column('name', 'text'),
  kind: column('kind', 'text'),
  origin: column('origin', 'text'),
  project: column('project', 'text'),
  issueType: column('issue_type', 'text'),
  autoFilters: column('auto_filters', 'jsonb'),
  includeRestricted: column('include_restricted', 'boolean'),
  workspace: column('workspace', 'jsonb'),
  isPaused: column('is_paused', 'boolean'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
  archivedAt: column('archived_at', 'timestamptz'),
  failures: column('failures', 'integer'),
  failingSince: column('failing_since', 'timestamptz'),
  lastSuccessAt: column('last_success_at', 'timestamptz'),
  dueAt: column('due_at', 'timestamptz'),
} as const satisfies ColumnsOf<Stored>;
const ROWS = rowMapping<Stored, typeof COLUMNS>(COLUMNS);

/** A row of `selection`. */
export type TrackerRow = Stored & {
  trackerReason: string | null;
  trackerStatus: number | null;
  trackerFailedAt: Instant | null;
};

/** A select list whose rows `toTracker` reads. @param table its name or alias */
export const selection = (table: string): string =>
  `${ROWS.selectionOf(table)}, ${table}.last_failure as "trackerReason", ${table}.last_status as "trackerStatus",
    ${table}.last_failure_at as "trackerFailedAt"`;

export function toTracker<Row extends TrackerRow>({ trackerReason, trackerStatus, trackerFailedAt, ...row }: Row) {
  const lastFailure =
    trackerFailedAt === null ? null : { reason: trackerReason ?? '', status: trackerStatus, at: trackerFailedAt };
  return { ...row, lastFailure };
}

const SELECT = `select ${selection('trackers')} from trackers where workspace_id = $1`;

const rowOf = (tracker: { [Name in keyof Tracker]?: Tracker[Name] | undefined }, sealed: Sealed | undefined) => ({
  ...ROWS.toRow(tracker),
  key_id: sealed?.keyId ?? null,
  ciphertext: sealed?.ciphertext ?? null,
});

/** What a change by those who manage it leaves. */
const KEPT = { id: undefined, workspaceId: undefined, kind: undefined, createdAt: undefined, lastSuccessAt: undefined };

/** Trackers of one workspace, over a pool or a transaction. */
export function trackerStore(db: Knex, workspaceId: number) {
  const one = ([row]: TrackerRow[]): Tracker => {
    if (row === undefined) throw notFound('The tracker');
    return toTracker(row);
  };
  return {
    /** Makes creates and changes of the workspace wait for each other, until the transaction ends. */
    async lock(): Promise<void> {
      await query(db, {
        name: 'lock-trackers',
        text: `select pg_advisory_xact_lock(hashtextextended('trackers', $1))`,
        values: [workspaceId],
      });
    },

    /** Those that are not archived, oldest first. */
    async list(): Promise<Tracker[]> {
      const rows = await query<TrackerRow>(db, {
        name: 'list-trackers',
        text: `${SELECT} and archived_at is null order by id`,
        values: [workspaceId],
      });
      return rows.map(toTracker);
    },

    async find(id: number): Promise<Tracker | undefined> {
      const [row] = await query<TrackerRow>(db, {
        name: 'get-tracker',
        text: `${SELECT} and id = $2`,
        values: [workspaceId, id],
      });
      return row && toTracker(row);
    },

    /** Locks the tracker until the transaction ends. @throws DomainError `not_found` */
    getForUpdate: async (id: number): Promise<Tracker> =>
      one(
        await query<TrackerRow>(db, {
          name: 'lock-tracker',
          text: `${SELECT} and id = $2 for update`,
          values: [workspaceId, id],
        }),
      ),

    /** The sealed address; undefined once archived. */
    async findAddress(id: number): Promise<Sealed | undefined> {
      const [sealed] = await query<Sealed>(db, {
        name: 'find-address-of-tracker',
        text: `select key_id as "keyId", ciphertext from trackers
          where workspace_id = $1 and id = $2 and ciphertext is not null`,
        values: [workspaceId, id],
      });
      return sealed;
    },

    /** An ID that is not in use. */
    newId: async (): Promise<number> => newId(db, 'trackers'),

    async insert(tracker: Tracker, sealed: Sealed): Promise<void> {
      await query(db, { name: 'insert-tracker', ...insertOf('trackers', rowOf(tracker, sealed)) });
    },

    /** Changes a tracker that this transaction has locked. @param sealed undefined: it has no address any more */
    async update(tracker: Tracker, sealed: Sealed | undefined): Promise<void> {
      const row = rowOf({ ...tracker, ...KEPT }, sealed);
      await query(db, {
        name: 'update-tracker',
        text: `update trackers set ${assignmentsOf(row, 3)} where workspace_id = $1 and id = $2`,
        values: [workspaceId, tracker.id, ...Object.values(row)],
      });
    },
  };
}

/** Deletes archived ones that no ticket is in: so a workspace has no more of them than tickets. */
export async function forgetArchived(db: Knex, workspaceId: number): Promise<void> {
  await query(db, {
    name: 'forget-archived-trackers',
    text: `delete from trackers t where workspace_id = $1 and archived_at is not null and not exists (
      select from follow_up_tickets k where k.workspace_id = $1 and k.tracker_id = t.id)`,
    values: [workspaceId],
  });
}
