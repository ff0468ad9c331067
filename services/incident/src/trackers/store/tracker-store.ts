import { notFound } from '@tocsin/http';
import { type Knex, query } from '@tocsin/postgres';
import { entriesOf, type Instant, type Sealed } from '@tocsin/runtime';
import type { Tracker } from '../domain/tracker.ts';

/** The columns that hold a property each. */
const COLUMNS = {
  id: 'id',
  workspaceId: 'workspace_id',
  revision: 'revision',
  name: 'name',
  kind: 'kind',
  origin: 'origin',
  project: 'project',
  issueType: 'issue_type',
  autoFilters: 'auto_filters',
  includeRestricted: 'include_restricted',
  workspace: 'workspace',
  isPaused: 'is_paused',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  archivedAt: 'archived_at',
  failures: 'failures',
  failingSince: 'failing_since',
  lastSuccessAt: 'last_success_at',
  dueAt: 'due_at',
} as const satisfies Partial<Record<keyof Tracker, string>>;

/** A row of `selection`. */
export type TrackerRow = Omit<Tracker, 'lastFailure'> & {
  trackerReason: string | null;
  trackerStatus: number | null;
  trackerFailedAt: Instant | null;
};

/** A select list whose rows `toTracker` reads. @param table its name or alias */
export const selection = (table: string): string =>
  entriesOf(COLUMNS)
    .map(([property, name]) => `${table}.${name} as "${property}"`)
    .concat(
      `${table}.last_failure as "trackerReason"`,
      `${table}.last_status as "trackerStatus"`,
      `${table}.last_failure_at as "trackerFailedAt"`,
    )
    .join(', ');

export function toTracker<Row extends TrackerRow>({ trackerReason, trackerStatus, trackerFailedAt, ...row }: Row) {
  const lastFailure =
    trackerFailedAt === null ? null : { reason: trackerReason ?? '', status: trackerStatus, at: trackerFailedAt };
  return { ...row, lastFailure };
}

const SELECT = `select ${selection('trackers')} from trackers where workspace_id = $1`;

/** What follows a change of a tracker, by those who manage it. */
const CHANGED = [
  ...(['revision', 'name', 'origin', 'project', 'issue_type', 'auto_filters', 'include_restricted'] as const),
  ...(['workspace', 'is_paused', 'updated_at', 'archived_at', 'failures', 'failing_since', 'due_at'] as const),
  ...(['key_id', 'ciphertext'] as const),
];
const INSERTED = ['workspace_id', 'id', 'kind', 'created_at', ...CHANGED] as const;

type Row = Record<(typeof INSERTED)[number], unknown>;

function rowOf(tracker: Tracker, sealed: Sealed | undefined): Row {
  const columns = Object.fromEntries(entriesOf(COLUMNS).map(([property, name]) => [name, tracker[property]])) as Record<
    (typeof COLUMNS)[keyof typeof COLUMNS],
    unknown
  >;
  const { autoFilters, workspace } = tracker;
  return {
    ...columns,
    auto_filters: autoFilters && JSON.stringify(autoFilters),
    workspace: JSON.stringify(workspace),
    ...{ key_id: sealed?.keyId ?? null, ciphertext: sealed?.ciphertext ?? null },
  };
}

const INSERT = `insert into trackers (${INSERTED.join(', ')})
  values (${INSERTED.map((_, index) => `$${index + 1}`).join(', ')})`;
const UPDATE = `update trackers set ${CHANGED.map((name, index) => `${name} = $${index + 3}`).join(', ')}
  where workspace_id = $1 and id = $2`;

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
    async newId(): Promise<number> {
      const [row] = await query<{ id: number }>(db, {
        name: 'new-tracker-id',
        text: `select nextval(pg_get_serial_sequence('trackers', 'id')) as id`,
      });
      return row?.id ?? 0;
    },

    async insert(tracker: Tracker, sealed: Sealed): Promise<void> {
      const row = rowOf(tracker, sealed);
      await query(db, { name: 'insert-tracker', text: INSERT, values: INSERTED.map((name) => row[name]) });
    },

    /** Changes a tracker that this transaction has locked. @param sealed undefined: it has no address any more */
    async update(tracker: Tracker, sealed: Sealed | undefined): Promise<void> {
      const row = rowOf(tracker, sealed);
      const values = [workspaceId, tracker.id, ...CHANGED.map((name) => row[name])];
      await query(db, { name: 'update-tracker', text: UPDATE, values });
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
