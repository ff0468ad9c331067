import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import {
  budget,
  type Budget,
  type Destination,
  LEASE_DURATION,
  type RequestKind,
  type RequestLimits,
  windowKeys,
  windowStart,
  type WindowUse,
} from '../domain/limits.ts';
import { currentTime } from '../../shared/store/time.ts';

/** The slot of one request in progress. */
export interface Slot extends Destination {
  /** Identifies the holder; equals the lease token of the delivery that the slot is for. */
  token: string;
  kind: RequestKind;
}

export interface HeldSlot extends Slot {
  /** Start of the window that the request counts in. */
  minute: Instant;
}

const LOCK = 'select last_workspace_id from dispatcher where id = 1 for update';

const COLUMNS = 'token, kind, workspace_id, host, ip, minute';
const SELECTION = 'token, kind, workspace_id as "workspaceId", host, ip, minute';

/** Has one row at least: without requests in this minute it is empty, except for the time. */
const USED_WINDOWS = `
  with moment as materialized (select ${currentTime('$1')} as now)
  select moment.now, used.scope, used.key, used.used
  from moment left join windows as used on used.minute = date_trunc('minute', moment.now)`;

const USED_SLOTS = `select ${SELECTION} from slots where lease_until > ${currentTime('$1')}`;

const FIND_SLOT = `select ${SELECTION} from slots where token = $1 and lease_until > $2`;

const GIVEN_SLOTS = `
  select slot.token, slot.kind, slot.workspace_id, slot.host, slot.ip, $1::timestamptz, $2::timestamptz
  from unnest((select $3::uuid[]), (select $4::text[]), (select $5::bigint[]), (select $6::text[]), (select $7::text[]))
    as slot (token, kind, workspace_id, host, ip)`;

const OPEN_SLOTS = `insert into slots (${COLUMNS}, lease_until) ${GIVEN_SLOTS}`;

/** The lateral join looks at one delivery after the other: the planner might scan the whole table. */
const OPEN_LEASED_SLOTS = `
  insert into slots (${COLUMNS}, lease_until) ${GIVEN_SLOTS}
  cross join lateral (select 1 from deliveries where lease_token = slot.token limit 1) as leased`;

/** Counts requests whose slots are open. The order prevents transactions from waiting for each other in a circle. */
const COUNT_REQUESTS = `
  insert into windows (minute, scope, key, used)
  select $1::timestamptz, request.scope, request.key, count(*)
  from unnest($2::uuid[], $3::text[], $4::text[]) as request (token, scope, key)
  cross join lateral (select 1 from slots where token = request.token limit 1) as open
  group by request.scope, request.key order by request.scope, request.key
  on conflict (minute, scope, key) do update set used = windows.used + excluded.used`;

const UNCOUNT_REQUEST = `
  update windows set used = used - 1
  where minute = $1 and (scope, key) in (select scope, key from unnest($2::text[], $3::text[]) as request (scope, key))`;

const REMEMBER = `
  insert into host_addresses (host, ip, seen_at) values ($1, $2, $3)
  on conflict (host) do update set ip = excluded.ip, seen_at = excluded.seen_at`;

type UsedWindowRow = { now: Instant } & (WindowUse | { scope: null; key: null; used: null });

/** Statements on the limits; `limitStore` explains them. */
export const limitStatements = {
  lock: (): Statement<{ last_workspace_id: number }> => ({ name: 'lock-limits', text: LOCK }),

  /** `budgetOf` takes the rows of this statement and of `usedSlots`. */
  usedWindows: (time: Instant | null): Statement<UsedWindowRow> => ({
    name: 'find-used-windows',
    text: USED_WINDOWS,
    values: [time],
  }),

  usedSlots: (time: Instant | null): Statement<HeldSlot> => ({
    name: 'find-used-slots',
    text: USED_SLOTS,
    values: [time],
  }),

  setLastWorkspace: (workspaceId: number): Statement<never> => ({
    name: 'set-last-workspace',
    text: 'update dispatcher set last_workspace_id = $1 where id = 1',
    values: [workspaceId],
  }),

  /**
   * Two statements: the first takes slots, the second counts their requests in the windows of `now`.
   * @param ifLeased only for deliveries that are leased with the token of their slot
   */
  openSlots: (
    slots: readonly Slot[],
    now: Instant,
    { ifLeased }: { ifLeased: boolean },
  ): [Statement<never>, Statement<never>] => {
    const requests = slots.flatMap((slot) =>
      windowKeys(slot.kind, slot).map(({ scope, key }) => ({ token: slot.token, scope, key })),
    );
    return [
      {
        name: ifLeased ? 'open-leased-slots' : 'open-slots',
        text: ifLeased ? OPEN_LEASED_SLOTS : OPEN_SLOTS,
        values: [
          windowStart(now),
          addMilliseconds(now, LEASE_DURATION),
          slots.map(({ token }) => token),
          slots.map(({ kind }) => kind),
          slots.map(({ workspaceId }) => workspaceId),
          slots.map(({ host }) => host),
          slots.map(({ ip }) => ip),
        ],
      },
      {
        name: 'count-requests',
        text: COUNT_REQUESTS,
        values: [
          windowStart(now),
          requests.map(({ token }) => token),
          requests.map(({ scope }) => scope),
          requests.map(({ key }) => key),
        ],
      },
    ];
  },
};

/** The time at which the used windows were read, and what the limits allow at that time. */
export function budgetOf(
  kind: RequestKind,
  { windows, slots }: { windows: readonly UsedWindowRow[]; slots: readonly HeldSlot[] },
  limits: RequestLimits,
): { now: Instant; budget: Budget } {
  const [first] = windows;
  if (first === undefined) throw new Error('the used windows were read without a time');
  const used = { windows: windows.flatMap((row) => (row.scope === null ? [] : [row])), slots };
  return { now: first.now, budget: budget(kind, used, limits) };
}

/**
 * The windows and slots of the limits on outgoing requests (contract: Deliveries). They are exact across replicas because
 * every change except `closeSlot` is made under `lock`. One lock is enough for the requests that the settings allow.
 */
export function limitStore(db: Knex) {
  const run = async <Row>(name: string, text: string, values: unknown[]): Promise<Row[]> =>
    query<Row>(db, { name, text, values });
  return {
    /** Locks the limits until the transaction ends. */
    async lock(): Promise<void> {
      await query(db, limitStatements.lock());
    },

    /** What the limits allow at `now`. */
    async budget(kind: RequestKind, { now, limits }: { now: Instant; limits: RequestLimits }): Promise<Budget> {
      const [windows, slots] = await pipeline(db, [limitStatements.usedWindows(now), limitStatements.usedSlots(now)]);
      return budgetOf(kind, { windows, slots }, limits).budget;
    },

    /** Takes slots, and counts their requests in the windows of `now`. */
    async openSlots(slots: readonly Slot[], now: Instant): Promise<void> {
      if (slots.length > 0) await pipeline(db, limitStatements.openSlots(slots, now, { ifLeased: false }));
    },

    /** Undefined when the slot was released or its lease has expired. */
    async findSlot(token: string, now: Instant): Promise<HeldSlot | undefined> {
      const [slot] = await run<HeldSlot>('find-slot', FIND_SLOT, [token, now]);
      return slot;
    },

    /** Frees the slot of a request that was not sent, and removes it from its windows. */
    async releaseSlot(slot: HeldSlot): Promise<void> {
      const keys = windowKeys(slot.kind, slot);
      await pipeline(db, [
        closeSlot(slot.token),
        {
          name: 'uncount-request',
          text: UNCOUNT_REQUEST,
          values: [slot.minute, keys.map(({ scope }) => scope), keys.map(({ key }) => key)],
        },
      ]);
    },

    /** Frees the slot of a finished request. Does not need the lock, because it only frees capacity. */
    async closeSlot(token: string): Promise<void> {
      await query(db, closeSlot(token));
    },

    /** The address that a host had when it was last resolved. */
    async findAddress(host: string): Promise<string | null> {
      const [row] = await run<{ ip: string }>('find-address', 'select ip from host_addresses where host = $1', [host]);
      return row?.ip ?? null;
    },

    async rememberAddress(host: string, ip: string, now: Instant): Promise<void> {
      await run('remember-address', REMEMBER, [host, ip, now]);
    },

    /** Deletes past windows, expired slots and old addresses. */
    async forget(now: Instant): Promise<void> {
      await query(db, { text: 'delete from windows where minute < $1', values: [windowStart(now)] });
      await query(db, { text: 'delete from slots where lease_until <= $1', values: [now] });
      await query(db, {
        text: 'delete from host_addresses where seen_at < $1',
        values: [addMilliseconds(now, -ADDRESS_RETENTION)],
      });
    },
  };
}

const closeSlot = (token: string): Statement<never> => ({
  name: 'close-slot',
  text: 'delete from slots where token = $1',
  values: [token],
});

/** Older addresses are unlikely to be still right. */
const ADDRESS_RETENTION = 24 * 3_600_000;
