import { notFound } from '@tocsin/http';
import { type Knex, query } from '@tocsin/postgres';
import { entriesOf, type Instant, type Sealed } from '@tocsin/runtime';
import type { Destination } from '../domain/destination.ts';

/** The columns that hold a property each. */
const COLUMNS = {
  id: 'id',
  workspaceId: 'workspace_id',
  revision: 'revision',
  name: 'name',
  kind: 'kind',
  origin: 'origin',
  host: 'host',
  hasCredential: 'has_credential',
  headerNames: 'header_names',
  recipients: 'recipients',
  filters: 'filters',
  template: 'template',
  includeRestricted: 'include_restricted',
  isPaused: 'is_paused',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  archivedAt: 'archived_at',
  failures: 'failures',
  failingSince: 'failing_since',
  lastSuccessAt: 'last_success_at',
  dueAt: 'due_at',
  leftOut: 'left_out',
} as const satisfies Partial<Record<keyof Destination, string>>;

/** A row of `selection`. */
export type DestinationRow = Omit<Destination, 'place' | 'lastFailure'> & {
  position: number;
  mark: string;
  reason: string | null;
  status: number | null;
  failedAt: Instant | null;
};

/** A select list whose rows `toDestination` reads. @param table its name or alias */
export const selection = (table: string): string =>
  entriesOf(COLUMNS)
    .map(([property, name]) => `${table}.${name} as "${property}"`)
    .concat(
      ['position', 'mark', 'last_failure as reason', 'last_status as status', 'last_failure_at as "failedAt"'].map(
        (column) => `${table}.${column}`,
      ),
    )
    .join(', ');

export function toDestination<Row extends DestinationRow>({ position, mark, reason, status, failedAt, ...row }: Row) {
  const lastFailure = failedAt === null ? null : { reason: reason ?? '', status, at: failedAt };
  return { ...row, place: { position, mark }, lastFailure };
}

const SELECT = `select ${selection('destinations')} from destinations where workspace_id = $1`;

/** What follows a change of a destination, by those who manage it. */
const CHANGED = [
  ...(['revision', 'name', 'origin', 'host', 'has_credential', 'header_names', 'recipients', 'filters'] as const),
  ...([
    'template',
    'include_restricted',
    'is_paused',
    'updated_at',
    'archived_at',
    'failures',
    'failing_since',
  ] as const),
  ...(['due_at', 'key_id', 'ciphertext', 'position', 'mark'] as const),
];
const INSERTED = ['workspace_id', 'id', 'kind', 'created_at', ...CHANGED] as const;

type Row = Record<(typeof INSERTED)[number], unknown>;

function rowOf(destination: Destination, sealed: Sealed | undefined): Row {
  const columns = Object.fromEntries(
    entriesOf(COLUMNS).map(([property, name]) => [name, destination[property]]),
  ) as Record<(typeof COLUMNS)[keyof typeof COLUMNS], unknown>;
  const { filters, place } = destination;
  return {
    ...columns,
    filters: JSON.stringify(filters),
    ...{ position: place.position, mark: place.mark },
    ...{ key_id: sealed?.keyId ?? null, ciphertext: sealed?.ciphertext ?? null },
  };
}

const INSERT = `insert into destinations (${INSERTED.join(', ')})
  values (${INSERTED.map((_, index) => `$${index + 1}`).join(', ')})`;
// What is under way goes on until it has an answer, and then finds that its lease has ended.
const UPDATE = `update destinations set ${CHANGED.map((name, index) => `${name} = $${index + 3}`).join(', ')},
  lease_token = null, lease_until = null
  where workspace_id = $1 and id = $2`;

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
    async newId(): Promise<number> {
      const [row] = await query<{ id: number }>(db, {
        name: 'new-destination-id',
        text: `select nextval(pg_get_serial_sequence('destinations', 'id')) as id`,
      });
      return row?.id ?? 0;
    },

    async insert(destination: Destination, sealed: Sealed): Promise<void> {
      const row = rowOf(destination, sealed);
      await query(db, { name: 'insert-destination', text: INSERT, values: INSERTED.map((name) => row[name]) });
    },

    /** Changes a destination that this transaction has locked. @param sealed undefined: it has no address any more */
    async update(destination: Destination, sealed: Sealed | undefined): Promise<void> {
      const row = rowOf(destination, sealed);
      const values = [workspaceId, destination.id, ...CHANGED.map((name) => row[name])];
      await query(db, { name: 'update-destination', text: UPDATE, values });
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
