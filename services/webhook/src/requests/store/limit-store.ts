import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import {
  budget,
  type Budget,
  type Destination,
  freeShares,
  type FreeShares,
  LEASE_DURATION,
  type LimitReached,
  type RequestKind,
  type RequestLimits,
  type Shares,
  windowKeys,
  windowStart,
  type WindowUse,
} from '../domain/limits.ts';
import { currentTime } from '../../shared/store/time.ts';

/** The slot of one request in progress. */
export interface Slot extends Destination, Shares {
  /** Identifies the holder; equals the lease token of the delivery that the slot is for. */
  token: string;
  kind: RequestKind;
}

export interface HeldSlot extends Slot {
  /** Start of the window that the request counts in. */
  minute: Instant;
}

/** The number of the advisory lock of a key, whose name begins with its scope. */
const lockOf = (name: string) => `hashtextextended('tocsin-webhook-limit ' || ${name}, 0)`;
const tryLock = (name: string) => `pg_try_advisory_xact_lock(${lockOf(name)})`;

const names = {
  workspace: (id: number) => `workspace ${id}`,
  host: (host: string) => `host ${host}`,
  ip: (ip: string) => `ip ${ip}`,
  windowShare: (kind: RequestKind, share: number) => `${kind} ${share}`,
  slotShare: (share: number) => `slot ${share}`,
};

/**
 * A host is tried only with the lock of its workspace, and an address only with that of its host: so of several claims
 * that try the same destination, one gets it.
 */
const TRY_DESTINATIONS = `
  select nth::int - 1 as index
  from unnest((select $1::text[]), (select $2::text[]), (select $3::text[])) with ordinality
    as destination (workspace, host, ip, nth)
  where case when ${tryLock('workspace')} then case when ${tryLock('host')} then ip is null or ${tryLock('ip')} end end`;

const TRY_SHARES = `
  select share from unnest((select $2::int[])) as candidate (share)
  where ${tryLock(`$1::text || ' ' || share`)} limit $3`;

/** In the order of their numbers, so that transactions cannot wait for each other in a circle. */
const LOCK_KEYS = `
  select pg_advisory_xact_lock(number) from (
    select distinct ${lockOf('name')} as number from unnest((select $1::text[])) as key (name) order by number
  ) as ordered`;

const COLUMNS = 'token, kind, workspace_id, host, ip, share, window_share, minute';
const SELECTION = `token, kind, workspace_id as "workspaceId", host, ip, share, window_share as "windowShare", minute`;

/** Has one row at least: without requests in this minute it is empty, except for the time. */
const USED_WINDOWS = `
  with moment as materialized (select ${currentTime('$1')} as now)
  select moment.now, used.scope, used.key, used.used
  from moment left join windows as used on used.minute = date_trunc('minute', moment.now)`;

const USED_SLOTS = `select ${SELECTION} from slots where lease_until > ${currentTime('$1')}`;

const FIND_SLOT = `select ${SELECTION} from slots where token = $1 and ($2::timestamptz is null or lease_until > $2)`;

const GIVEN_SLOTS = `
  select slot.token, slot.kind, slot.workspace_id, slot.host, slot.ip, slot.share, slot.window_share, $1::timestamptz,
    $2::timestamptz
  from unnest((select $3::uuid[]), (select $4::text[]), (select $5::bigint[]), (select $6::text[]), (select $7::text[]),
      (select $8::int[]), (select $9::int[]))
    as slot (token, kind, workspace_id, host, ip, share, window_share)`;

const OPEN_SLOTS = `insert into slots (${COLUMNS}, lease_until) ${GIVEN_SLOTS}`;

/** The lateral join looks at one delivery after the other: the planner might scan the whole table. */
const OPEN_LEASED_SLOTS = `
  insert into slots (${COLUMNS}, lease_until) ${GIVEN_SLOTS}
  cross join lateral (
    select 1 from deliveries where workspace_id = slot.workspace_id and lease_token = slot.token limit 1
  ) as leased`;

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
  where minute = $1 and (scope, key) in (
    select scope, key from unnest((select $2::text[]), (select $3::text[])) as request (scope, key))`;

const REMEMBER = `
  insert into host_addresses (host, ip, seen_at) values ($1, $2, $3)
  on conflict (host) do update set ip = excluded.ip, seen_at = excluded.seen_at`;

type UsedWindowRow = { now: Instant } & (WindowUse | { scope: null; key: null; used: null });

/** The select of the workspaces, hosts and addresses whose limits are reached, as `scope` and `key`; it reads `moment`. */
export const exhaustedKeys = (first: number): string => {
  const parameter = (index: number) => `$${first + index}`;
  const windowLimits = `unnest((select ${parameter(0)}::text[]), (select ${parameter(1)}::text[]), (select ${parameter(2)}::int[]))`;
  const usedSlots = (scope: string, key: string, limit: string) => `
    select '${scope}', ${key} from slots
    where ${key} is not null and lease_until > (select now from moment) group by ${key} having count(*) >= ${limit}::int`;
  return `
    select limits.scope, windows.key from ${windowLimits} as limits (scope, stored, most)
    join windows on windows.minute = date_trunc('minute', (select now from moment)) and windows.scope = limits.stored
      and windows.used >= limits.most
    union all ${usedSlots('workspace', 'workspace_id::text', parameter(3))}
    union all ${usedSlots('host', 'host', parameter(4))}
    union all ${usedSlots('ip', 'ip', parameter(5))}`;
};

/** The values of the six parameters of `exhaustedKeys`. */
export function exhaustedKeysValues(kind: RequestKind, { windows, slots }: RequestLimits): unknown[] {
  const scopes = ['workspace', 'host', 'ip'] as const;
  return [
    scopes,
    scopes.map((scope) => `${kind}:${scope}`),
    scopes.map((scope) => windows[kind][scope]),
    ...scopes.map((scope) => slots[scope]),
  ];
}

/** Statements on the limits; `limitStore` explains them. */
export const limitStatements = {
  /** `usageOf` takes the rows of this statement and of `usedSlots`. */
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

  /** Locks the keys of destinations that nobody has locked. Its rows have the indexes of those whose keys it has all. */
  tryDestinations: (destinations: readonly Destination[]): Statement<{ index: number }> => ({
    name: 'try-destinations',
    text: TRY_DESTINATIONS,
    values: [
      destinations.map(({ workspaceId }) => names.workspace(workspaceId)),
      destinations.map(({ host }) => names.host(host)),
      destinations.map(({ ip }) => (ip === null ? null : names.ip(ip))),
    ],
  }),

  /**
   * Two statements, which lock some shares of windows and of slots that nobody has locked: as many as `count` requests
   * need if the most of `free` are among them. What `free` says may be wrong by then. The preferred ones are tried first.
   */
  tryShares: (
    kind: RequestKind,
    free: FreeShares,
    { count, preferred }: { count: number; preferred?: Shares | undefined },
  ): [Statement<{ share: number }>, Statement<{ share: number }>] => {
    const statement = (prefix: string, amounts: readonly number[], first?: number): Statement<{ share: number }> => {
      const { shares, needed } = sharesToTry(amounts, { count, first });
      return { name: 'try-shares', text: TRY_SHARES, values: [prefix, shares, needed] };
    };
    return [statement(kind, free.window, preferred?.windowShare), statement('slot', free.slots, preferred?.share)];
  },

  /**
   * Two statements: the first takes slots, the second counts their requests in the windows of `now`. The transaction holds
   * the locks of all keys.
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
          slots.map(({ share }) => share),
          slots.map(({ windowShare }) => windowShare),
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

/**
 * The shares that allow anything, those that allow most first and equal ones in random order, so that several processes
 * try different ones; and how many of the first are enough for so many requests.
 */
function sharesToTry(
  free: readonly number[],
  { count, first }: { count: number; first: number | undefined },
): { shares: number[]; needed: number } {
  const shares = free
    .flatMap((amount, share) => (amount > 0 ? [{ share, amount, order: Math.random() }] : []))
    .sort((a, b) => Number(b.share === first) - Number(a.share === first) || b.amount - a.amount || a.order - b.order);
  let needed = 0;
  for (let left = count; left > 0 && needed < shares.length; needed += 1) left -= shares[needed]?.amount ?? 0;
  return { shares: shares.map(({ share }) => share), needed };
}

/** The time at which the used windows were read, and what the limits allow at that time. */
export function usageOf(
  kind: RequestKind,
  { windows, slots }: { windows: readonly UsedWindowRow[]; slots: readonly HeldSlot[] },
  limits: RequestLimits,
): { now: Instant; budget: Budget; free: FreeShares } {
  const [first] = windows;
  if (first === undefined) throw new Error('the used windows were read without a time');
  const used = { windows: windows.flatMap((row) => (row.scope === null ? [] : [row])), slots };
  return { now: first.now, budget: budget(kind, used, limits), free: freeShares(kind, used, limits) };
}

/** The shares that requests may use, one after the other, of those that the transaction has locked. */
export function placesIn(
  free: FreeShares,
  locked: { windowShares: readonly { share: number }[]; slotShares: readonly { share: number }[] },
): Shares[] {
  const places = (amounts: readonly number[], shares: readonly { share: number }[]) =>
    shares.flatMap(({ share }) => Array.from({ length: amounts[share] ?? 0 }, () => share));
  const slots = places(free.slots, locked.slotShares);
  return places(free.window, locked.windowShares).flatMap((windowShare, index) => {
    const share = slots[index];
    return share === undefined ? [] : [{ share, windowShare }];
  });
}

/**
 * The windows and slots of the limits on outgoing requests (contract: Deliveries). They are exact across replicas: each
 * limit of a workspace, a host, an address or a share of the installation has an advisory lock, and whoever counts a
 * request reads and writes under the locks of all its keys. Claims take those that are free and wait for none; others
 * lock all of their keys by `lockKeys` before they lock anything else.
 */
export function limitStore(db: Knex) {
  const run = async <Row>(name: string, text: string, values: unknown[]): Promise<Row[]> =>
    query<Row>(db, { name, text, values });
  const findSlot = async (token: string, now: Instant | null): Promise<HeldSlot | undefined> => {
    const [slot] = await run<HeldSlot>('find-slot', FIND_SLOT, [token, now]);
    return slot;
  };
  /** Locks keys until the transaction ends. */
  const lockKeys = async (keys: readonly string[]): Promise<void> => {
    await run('lock-limits', LOCK_KEYS, [keys]);
  };
  const keysOf = ({ workspaceId, host, ip }: Destination): string[] => [
    names.workspace(workspaceId),
    names.host(host),
    ...(ip === null ? [] : [names.ip(ip)]),
  ];
  return {
    /** Locks the keys of a destination until the transaction ends. */
    lockDestination: async (destination: Destination): Promise<void> => lockKeys(keysOf(destination)),

    /**
     * Locks the keys of a slot until the transaction ends, and those of the address that its request goes to, if it is
     * known. Only its holder changes a slot. Returns false when it was released.
     */
    async lockSlot(token: string, ip: string | null): Promise<boolean> {
      const slot = await findSlot(token, null);
      if (slot === undefined) return false;
      const { kind, share, windowShare } = slot;
      await lockKeys([
        ...keysOf(slot),
        ...keysOf({ ...slot, ip }),
        names.windowShare(kind, windowShare),
        names.slotShare(share),
      ]);
      return true;
    },

    reserve: async (kind: RequestKind, options: Reservation) => reserve(db, kind, options),

    /** Takes slots, and counts their requests in the windows of `now`, under the locks of all their keys. */
    async openSlots(slots: readonly Slot[], now: Instant): Promise<void> {
      if (slots.length > 0) await pipeline(db, limitStatements.openSlots(slots, now, { ifLeased: false }));
    },

    /** Undefined when the slot was released or its lease has expired. */
    findSlot: async (token: string, now: Instant): Promise<HeldSlot | undefined> => findSlot(token, now),

    /** Frees the slot of a request that was not sent, and removes it from its windows; after `lockSlot`. */
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

    /** Frees the slot of a finished request. Needs no lock, because it only frees capacity. */
    async closeSlot(token: string): Promise<void> {
      await query(db, closeSlot(token));
    },

    ...hostAddresses(db),

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

/** One request, whose destination the transaction has locked. */
interface Reservation {
  destination: Destination;
  now: Instant;
  limits: RequestLimits;
  /** Shares that it takes if they allow it. */
  preferred?: Shares;
}

/**
 * Takes shares of the installation's limits for a request.
 * @returns the limit that is reached, if any
 */
async function reserve(
  db: Knex,
  kind: RequestKind,
  { destination, now, limits, preferred }: Reservation,
): Promise<{ kind: 'refused'; limit: LimitReached } | { kind: 'reserved'; shares: Shares }> {
  const use = [limitStatements.usedWindows(now), limitStatements.usedSlots(now)] as const;
  const [windowsBefore, slotsBefore] = await pipeline(db, use);
  const { free: freeBefore } = usageOf(kind, { windows: windowsBefore, slots: slotsBefore }, limits);
  const [windowShares, slotShares, windows, slots] = await pipeline(db, [
    ...limitStatements.tryShares(kind, freeBefore, { count: 1, preferred }),
    ...use,
  ]);
  const { budget: allowed, free } = usageOf(kind, { windows, slots }, limits);
  const [shares] = placesIn(free, { windowShares, slotShares });
  const limit = allowed.reachedLimit(destination);
  if (limit !== undefined) return { kind: 'refused', limit };
  if (shares !== undefined) return { kind: 'reserved', shares };
  const hasWindow = windowShares.some(({ share }) => (free.window[share] ?? 0) > 0);
  return { kind: 'refused', limit: { scope: 'all', resource: hasWindow ? 'slots' : 'window' } };
}

const hostAddresses = (db: Knex) => ({
  /** The address that a host had when it was last resolved. */
  findAddress: async (host: string): Promise<string | null> => {
    const [row] = await query<{ ip: string }>(db, {
      name: 'find-address',
      text: 'select ip from host_addresses where host = $1',
      values: [host],
    });
    return row?.ip ?? null;
  },

  rememberAddress: async (host: string, ip: string, now: Instant): Promise<void> => {
    await query(db, { name: 'remember-address', text: REMEMBER, values: [host, ip, now] });
  },
});

const closeSlot = (token: string): Statement<never> => ({
  name: 'close-slot',
  text: 'delete from slots where token = $1',
  values: [token],
});

/** Older addresses are unlikely to be still right. */
const ADDRESS_RETENTION = 24 * 3_600_000;
