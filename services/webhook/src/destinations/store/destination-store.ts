import { notFound } from '@tocsin/http';
import { type Knex, newId, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import { assignmentsOf, column, type ColumnsOf, insertOf, rowMapping } from '@tocsin/versioned-resources';
import type { FeedPlace } from '../../feed/domain/feed-place.ts';
import type { Destination } from '../domain/destination.ts';

type Stored = Omit<Destination, 'place' | 'lastFailure'> & FeedPlace;

const COLUMNS = {
  id: column('id', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  revision: column('revision', 'bigint'),
  name: column('name', 'text'),
  kind: column('kind', 'text'),
  origin: column('origin', 'text'),
  host: column('host', 'text'),
  hasCredential: column('has_credential', 'boolean'),
  headerNames: column('header_names', 'text[]'),
  recipients: column('recipients', 'text[]'),
  filters: column('filters', 'jsonb'),
  template: column('template', 'text'),
  includeRestricted: column('include_restricted', 'boolean'),
  isPaused: column('is_paused', 'boolean'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
  archivedAt: column('archived_at', 'timestamptz'),
  failures: column('failures', 'integer'),
  failingSince: column('failing_since', 'timestamptz'),
  lastSuccessAt: column('last_success_at', 'timestamptz'),
  dueAt: column('due_at', 'timestamptz'),
  leftOut: column('left_out', 'bigint'),
  position: column('position', 'bigint'),
  mark: column('mark', 'text'),
} as const satisfies ColumnsOf<Stored>;
const ROWS = rowMapping<Stored, typeof COLUMNS>(COLUMNS);

/** A row of `selection`. */
export type DestinationRow = Stored & { reason: string | null; status: number | null; failedAt: Instant | null };

/** A select list whose rows `toDestination` reads. @param table its name or alias */
export const selection = (table: string): string =>
  `${ROWS.selectionOf(table)}, ${table}.last_failure as reason, ${table}.last_status as status,
    ${table}.last_failure_at as "failedAt"`;

export function toDestination<Row extends DestinationRow>({ position, mark, reason, status, failedAt, ...row }: Row) {
  const lastFailure = failedAt === null ? null : { reason: reason ?? '', status, at: failedAt };
  return { ...row, place: { position, mark }, lastFailure };
}

const SELECT = `select ${selection('destinations')} from destinations where workspace_id = $1`;

const rowOf = (
  destination: { [Name in keyof Destination]?: Destination[Name] | undefined } & Pick<Destination, 'place'>,
  sealed: Sealed | undefined,
) => ({
  ...ROWS.toRow({ ...destination, ...destination.place }),
  key_id: sealed?.keyId ?? null,
  ciphertext: sealed?.ciphertext ?? null,
});

/** What a change by those who manage it leaves. */
const KEPT = {
  ...{ id: undefined, workspaceId: undefined, kind: undefined, createdAt: undefined },
  ...{ lastSuccessAt: undefined, leftOut: undefined },
};

function updateOf(destination: Destination, sealed: Sealed | undefined) {
  const row = rowOf({ ...destination, ...KEPT }, sealed);
  return {
    name: 'update-destination',
    // What is under way goes on until it has an answer, and then finds that its lease has ended.
    text: `update destinations set ${assignmentsOf(row, 3)}, lease_token = null, lease_until = null
      where workspace_id = $1 and id = $2`,
    values: [destination.workspaceId, destination.id, ...Object.values(row)],
  };
}

/** Destinations of one workspace, over a pool or a transaction. */
export function destinationStore(db: Knex, workspaceId: number) {
  const one = ([row]: DestinationRow[]): Destination => {
    if (row === undefined) throw notFound('The destination');
    return toDestination(row);
  };
  return {
    /** Those that are not archived, oldest first. */
    async list(): Promise<Destination[]> {
      const rows = await query<DestinationRow>(db, {
        name: 'list-destinations',
        text: `${SELECT} and archived_at is null order by id`,
        values: [workspaceId],
      });
      return rows.map(toDestination);
    },

    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<Destination> =>
      one(
        await query<DestinationRow>(db, {
          name: 'get-destination',
          text: `${SELECT} and id = $2`,
          values: [workspaceId, id],
        }),
      ),

    /** Locks the destination until the transaction ends. @throws DomainError `not_found` */
    getForUpdate: async (id: number): Promise<Destination> =>
      one(
        await query<DestinationRow>(db, {
          name: 'lock-destination',
          text: `${SELECT} and id = $2 for update`,
          values: [workspaceId, id],
        }),
      ),

    /** The sealed address; undefined once archived. */
    async findAddress(id: number): Promise<Sealed | undefined> {
      const [sealed] = await query<Sealed>(db, {
        name: 'find-address-of-destination',
        text: `select key_id as "keyId", ciphertext from destinations
          where workspace_id = $1 and id = $2 and ciphertext is not null`,
        values: [workspaceId, id],
      });
      return sealed;
    },

    /** When the nth-latest destination was created, archived ones included; undefined if there are fewer. */
    async createdAt(nthLatest: number): Promise<Instant | undefined> {
      const [row] = await query<{ createdAt: Instant }>(db, {
        text: `select created_at as "createdAt" from destinations where workspace_id = $1
          order by created_at desc offset $2 limit 1`,
        values: [workspaceId, nthLatest - 1],
      });
      return row?.createdAt;
    },

    /** An ID that is not in use. */
    newId: async (): Promise<number> => newId(db, 'destinations'),

    async insert(destination: Destination, sealed: Sealed): Promise<void> {
      await query(db, { name: 'insert-destination', ...insertOf('destinations', rowOf(destination, sealed)) });
    },

    /** Changes a destination that this transaction has locked. @param sealed undefined: it has no address any more */
    async update(destination: Destination, sealed: Sealed | undefined): Promise<void> {
      await query(db, updateOf(destination, sealed));
    },
  };
}

/** Destinations that are deleted at once. */
const BATCH = 1_000;

/** Deletes some of those that were archived until a time. Returns whether there may be more. */
export async function forgetArchived(db: Knex, until: Instant): Promise<boolean> {
  const deleted = await query(db, {
    text: `delete from destinations where (workspace_id, id) in (
      select workspace_id, id from destinations where archived_at <= $1 limit ${BATCH}) returning id`,
    values: [until],
  });
  return deleted.length === BATCH;
}
