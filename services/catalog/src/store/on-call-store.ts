import { type Knex, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { SealedPage } from '@tocsin/service-host';
import type { KnownShifts, OnCallFailure, OnCallSource, Shift } from '../domain/on-call.ts';

/** A source as it is stored. */
export interface StoredSource extends OnCallSource, KnownShifts {
  workspaceId: number;
  teamId: number;
  sealed: Sealed;
  /** In a row. */
  failures: number;
}

/** A source that this process may read until its lease ends. */
export type ClaimedSource = StoredSource & { token: string };

/** What became of a look. */
export interface Look {
  /** Undefined: as they are. */
  shifts: readonly Shift[] | undefined;
  fetchedAt: Instant | null;
  failure: KnownShifts['failure'];
  failures: number;
  dueAt: Instant;
}

/** Milliseconds: longer than it takes to read a source. */
const LEASE = 60_000;
/** Sources of a workspace, and of a host, that a process reads at once. */
const AT_ONCE = 2;

/** The columns of a source, each with its name in a row. */
const COLUMNS = [
  ...['workspace_id as "workspaceId"', 'team_id as "teamId"', 'kind', 'origin', 'schedule_id as "scheduleId"'],
  ...['key_id as "keyId"', 'ciphertext', 'shifts', 'fetched_at as "fetchedAt"', 'failure as reason'],
  ...['failure_status as status', 'failing_since as since', 'failures'],
];
const selection = (table: string): string => COLUMNS.map((column) => `${table}.${column}`).join(', ');

type Row = Omit<StoredSource, 'sealed' | 'failure'> &
  Sealed & { reason: OnCallFailure['reason'] | null; status: number | null; since: Instant | null };

function toSource<Other>({ keyId, ciphertext, reason, status, since, ...row }: Row & Other) {
  const failure = reason === null || since === null ? null : { reason, status, since };
  return { ...row, failure, sealed: { keyId, ciphertext } };
}

/** The sources of one workspace, over a pool or a transaction. */
export function onCallStore(db: Knex, workspaceId: number) {
  return {
    async find(teamIds: readonly number[]): Promise<StoredSource[]> {
      const rows = await query<Row>(db, {
        name: 'find-on-call-sources',
        text: `select ${selection('on_call_sources')} from on_call_sources
          where workspace_id = $1 and team_id = any((select $2::bigint[])::bigint[])`,
        values: [workspaceId, teamIds],
      });
      return rows.map(toSource);
    },

    /** How many teams have one, except this team. */
    async countOthers(teamId: number): Promise<number> {
      const [row] = await query<{ count: number }>(db, {
        name: 'count-on-call-sources',
        text: 'select count(*) as count from on_call_sources where workspace_id = $1 and team_id <> $2',
        values: [workspaceId, teamId],
      });
      return row?.count ?? 0;
    },

    /** Stores the source of a team, instead of the one that it has. What others read of that is not written any more. */
    async put({ teamId, sealed, ...source }: Omit<StoredSource, 'workspaceId' | 'failures'> & { dueAt: Instant }) {
      const { kind, origin, scheduleId, shifts, fetchedAt, dueAt } = source;
      await query(db, {
        name: 'put-on-call-source',
        text: `insert into on_call_sources
            (workspace_id, team_id, kind, origin, schedule_id, key_id, ciphertext, shifts, fetched_at, due_at)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
          on conflict (workspace_id, team_id) do update set kind = excluded.kind, origin = excluded.origin,
            schedule_id = excluded.schedule_id, key_id = excluded.key_id, ciphertext = excluded.ciphertext,
            shifts = excluded.shifts, fetched_at = excluded.fetched_at, due_at = excluded.due_at, failure = null,
            failure_status = null, failing_since = null, failures = 0, lease_token = null, lease_until = null`,
        values: [
          ...[workspaceId, teamId, kind, origin, scheduleId, sealed.keyId, sealed.ciphertext],
          ...[JSON.stringify(shifts), fetchedAt, dueAt],
        ],
      });
    },

    async remove(teamId: number): Promise<void> {
      await query(db, {
        name: 'remove-on-call-source',
        text: 'delete from on_call_sources where workspace_id = $1 and team_id = $2',
        values: [workspaceId, teamId],
      });
    },

    /** Writes what was read under a lease, unless it has ended: somebody has changed the source, or another process has it. */
    async finish(
      { teamId, token }: Pick<ClaimedSource, 'teamId' | 'token'>,
      { shifts, fetchedAt, failure, failures, dueAt }: Look,
    ): Promise<void> {
      await query(db, {
        name: 'finish-on-call-source',
        text: `update on_call_sources set shifts = coalesce($4::jsonb, shifts), fetched_at = $5, failure = $6,
            failure_status = $7, failing_since = $8, failures = $9, due_at = $10, lease_token = null, lease_until = null
          where workspace_id = $1 and team_id = $2 and lease_token = $3`,
        values: [
          ...[workspaceId, teamId, token, shifts === undefined ? null : JSON.stringify(shifts), fetchedAt],
          ...[failure?.reason ?? null, failure?.status ?? null, failure?.since ?? null, failures, dueAt],
        ],
      });
    },
  };
}

/**
 * Leases sources that are due, one of each workspace and of each host in turn, and few of each; locked rows are left to the
 * process that holds them.
 */
export async function claimSources(
  db: Knex,
  { now, limit }: { now: Instant; limit: number },
): Promise<ClaimedSource[]> {
  const rows = await query<Row & { token: string }>(db, {
    name: 'claim-on-call-sources',
    text: `with due as (
        select workspace_id, team_id, due_at,
          row_number() over (partition by workspace_id order by due_at, team_id) as nth,
          row_number() over (partition by origin order by due_at, workspace_id, team_id) as nth_of_host
        from on_call_sources where due_at <= $1 and (lease_until is null or lease_until <= $1)
      ), chosen as (
        select s.workspace_id, s.team_id
        from due join on_call_sources s on s.workspace_id = due.workspace_id and s.team_id = due.team_id
        where due.nth <= ${AT_ONCE} and due.nth_of_host <= ${AT_ONCE}
        order by due.nth, due.due_at limit $2
        for update of s skip locked
      )
      update on_call_sources as source
      set lease_token = gen_random_uuid(), lease_until = $1::timestamptz + interval '${LEASE} milliseconds'
      from chosen where source.workspace_id = chosen.workspace_id and source.team_id = chosen.team_id
      returning ${selection('source')}, source.lease_token as token`,
    values: [now, limit],
  });
  return rows.map(toSource);
}

/** A sealed address, and what it is bound to. */
export type SealedAddress = Pick<StoredSource, 'workspaceId' | 'teamId' | 'sealed'>;

/** The sealed addresses of all workspaces, over a pool or a transaction. */
export function sealedAddresses(db: Knex) {
  const list = async (condition: string, values: readonly unknown[]): Promise<SealedAddress[]> => {
    const rows = await query<Pick<StoredSource, 'workspaceId' | 'teamId'> & Sealed>(db, {
      text: `select workspace_id as "workspaceId", team_id as "teamId", key_id as "keyId", ciphertext
        from on_call_sources ${condition}`,
      values,
    });
    return rows.map(({ keyId, ciphertext, ...row }) => ({ ...row, sealed: { keyId, ciphertext } }));
  };
  return {
    hasAny: async (): Promise<boolean> =>
      (await query(db, { text: 'select team_id from on_call_sources limit 1' })).length > 0,

    /** Those of the teams with the highest IDs. */
    latest: async (limit: number) => list('order by team_id desc limit $1', [limit]),

    /** Lists and locks those behind a team that other keys than this one have sealed; skips locked rows. */
    // Two ranges of an index; an inequality would read the whole table.
    sealedByOthers: async (keyId: string, { after, limit }: SealedPage) =>
      list('where (key_id < $1 or key_id > $1) and team_id > $2 order by team_id limit $3 for update skip locked', [
        ...[keyId, after, limit],
      ]),

    async replace({ workspaceId, teamId, sealed: { keyId, ciphertext } }: SealedAddress): Promise<void> {
      await query(db, {
        text: 'update on_call_sources set key_id = $3, ciphertext = $4 where workspace_id = $1 and team_id = $2',
        values: [workspaceId, teamId, keyId, ciphertext],
      });
    },
  };
}
