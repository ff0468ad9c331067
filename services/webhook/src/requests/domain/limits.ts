import { type Instant, addMilliseconds } from '@tocsin/runtime';

/** Requests to receivers are deliveries or checks (verifications); each kind has its own windows. */
export type RequestKind = 'delivery' | 'check';
export const SCOPES = ['all', 'workspace', 'host', 'ip'] as const;
type LimitScope = (typeof SCOPES)[number];

/** The limits on requests to receivers. They hold over all processes, because these count in the database. */
export interface RequestLimits {
  /** Requests that may start in one fixed minute. */
  windows: Record<RequestKind, Record<LimitScope, number>>;
  /** Concurrent requests, of both kinds together. */
  slots: Record<LimitScope, number>;
}

/**
 * Contract: Limits. A workspace gets half of all slots, so that slow receivers of one workspace cannot delay the others.
 * A host has the same limit as an IP address, because the address may not be known yet.
 */
export const CONTRACT_LIMITS: RequestLimits = {
  windows: {
    delivery: { all: 120, workspace: 30, host: 10, ip: 10 },
    check: { all: 30, workspace: 3, host: 3, ip: 3 },
  },
  slots: { all: 16, workspace: 8, host: 2, ip: 2 },
};

/**
 * A slot or a delivery is free again after this many milliseconds even if its holder died; twice the request timeout.
 */
export const LEASE_DURATION = 20_000;

const MINUTE = 60_000;

/** The start of the window that contains `now`. */
export const windowStart = (now: Instant): Instant =>
  new Date(Math.floor(Date.parse(now) / MINUTE) * MINUTE).toISOString();

export const windowEnd = (now: Instant): Instant => addMilliseconds(windowStart(now), MINUTE);

/**
 * A limit of the whole installation is divided into this many shares, each of which is counted by itself: claims that use
 * different shares do not wait for each other.
 */
const SHARES = 16;

/** What each share has of a limit; all of them have the limit together. */
const sharesOf = (limit: number): number[] =>
  Array.from({ length: SHARES }, (_, share) => Math.floor((limit + SHARES - 1 - share) / SHARES));

/** The shares of the installation's limits that a request uses. */
export interface Shares {
  /** Of the slots. */
  share: number;
  /** Of the windows. */
  windowShare: number;
}

/** How many requests each share of the installation's limits still allows, by its number. */
export interface FreeShares {
  window: number[];
  slots: number[];
}

/** The workspace that a request is made for, and where it goes. */
export interface Destination {
  workspaceId: number;
  host: string;
  /** Null while the address is not known. */
  ip: string | null;
}

/** How many requests started in a window. */
export interface WindowUse {
  /** Kind and scope, as in `delivery:host`. */
  scope: string;
  /** Of the scope `all`: the number of a share. */
  key: string;
  used: number;
}

/** The limit that a request would exceed. Windows are free again in the next minute, slots when any request ends. */
export interface LimitReached {
  scope: LimitScope;
  resource: 'window' | 'slots';
}

/**
 * What the limits allow at one moment. It is a snapshot: whoever acts on it must hold the locks of the keys.
 */
export interface Budget {
  /** The limit that a request would exceed, if any; a window takes precedence over slots. */
  reachedLimit(destination: Destination): LimitReached | undefined;
  /** The workspaces, hosts or addresses whose limit is reached. */
  exhaustedKeys(scope: LimitScope): string[];
  /** Counts a request to the destination. */
  take(destination: Destination): void;
}

export function budget(
  kind: RequestKind,
  used: { windows: readonly WindowUse[]; slots: readonly Destination[] },
  { windows, slots }: RequestLimits,
): Budget {
  const counts = {
    window: tally(
      used.windows.map(({ scope, key, used: count }) => [`${scope} ${scope === `${kind}:all` ? '' : key}`, count]),
    ),
    slots: tally(used.slots.flatMap((slot) => keysOf(slot).map(([scope, key]) => [`${kind}:${scope} ${key}`, 1]))),
  };
  const limits = { window: windows[kind], slots };
  const RESOURCES = ['window', 'slots'] as const;
  return {
    reachedLimit(destination) {
      for (const resource of RESOURCES) {
        for (const [scope, key] of keysOf(destination)) {
          if ((counts[resource].get(`${kind}:${scope} ${key}`) ?? 0) >= limits[resource][scope])
            return { scope, resource };
        }
      }
      return undefined;
    },
    exhaustedKeys(scope) {
      const prefix = `${kind}:${scope} `;
      return RESOURCES.flatMap((resource) =>
        [...counts[resource]]
          .filter(([name, count]) => name.startsWith(prefix) && count >= limits[resource][scope])
          .map(([name]) => name.slice(prefix.length)),
      );
    },
    take(destination) {
      for (const [scope, key] of keysOf(destination)) {
        for (const resource of RESOURCES) {
          const name = `${kind}:${scope} ${key}`;
          counts[resource].set(name, (counts[resource].get(name) ?? 0) + 1);
        }
      }
    },
  };
}

function tally(entries: readonly (readonly [string, number])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [name, count] of entries) counts.set(name, (counts.get(name) ?? 0) + count);
  return counts;
}

/** What the shares of the installation's limits still allow. */
export function freeShares(
  kind: RequestKind,
  used: { windows: readonly WindowUse[]; slots: readonly Pick<Shares, 'share'>[] },
  { windows, slots }: RequestLimits,
): FreeShares {
  const free = { window: sharesOf(windows[kind].all), slots: sharesOf(slots.all) };
  const use = (shares: number[], share: number, count: number) => {
    shares[share] = Math.max(0, (shares[share] ?? 0) - count);
  };
  for (const { scope, key, used: count } of used.windows)
    if (scope === `${kind}:all`) use(free.window, Number(key), count);
  for (const { share } of used.slots) use(free.slots, share, 1);
  return free;
}

/** The keys of the windows that a request counts in, as they are stored. */
export function windowKeys(
  kind: RequestKind,
  { windowShare, ...destination }: Destination & Pick<Shares, 'windowShare'>,
): { scope: string; key: string }[] {
  return keysOf(destination).map(([scope, key]) => ({
    scope: `${kind}:${scope}`,
    key: scope === 'all' ? String(windowShare) : key,
  }));
}

function keysOf({ workspaceId, host, ip }: Destination): [LimitScope, string][] {
  return [
    ['all', ''],
    ['workspace', String(workspaceId)],
    ['host', host],
    ...(ip === null ? [] : [['ip', ip] as [LimitScope, string]]),
  ];
}
