import { type Instant, later } from '@tocsin/runtime';

/** Requests to receivers are deliveries, or checks of a receiver; each kind has windows of its own. */
export type RequestKind = 'delivery' | 'check';
export const SCOPES = ['all', 'workspace', 'host', 'ip'] as const;
export type LimitScope = (typeof SCOPES)[number];

/** Requests begun in one fixed minute (contract: Limits). */
export const WINDOWS: Record<RequestKind, Record<LimitScope, number>> = {
  delivery: { all: 120, workspace: 30, host: 10, ip: 10 },
  check: { all: 30, workspace: 3, host: 3, ip: 3 },
};

/**
 * Requests under way at once, of both kinds (contract: Limits). Half of all for one workspace, so that one with slow receivers
 * cannot hold up the others. A host has as many as an IP address: it stands in for the address until that is known.
 */
export const SLOTS: Record<LimitScope, number> = { all: 16, workspace: 8, host: 2, ip: 2 };

/** A slot is free after this long, whatever became of its holder; twice the time that a request may take. */
export const LEASE = 20_000;

const MINUTE = 60_000;

/** The beginning of the fixed window that `now` is in. */
export const windowOf = (now: Instant): Instant =>
  new Date(Math.floor(Date.parse(now) / MINUTE) * MINUTE).toISOString();

export const windowEnd = (now: Instant): Instant => later(windowOf(now), MINUTE);

/** Whom a request is for, and where it goes. */
export interface Destination {
  workspaceId: number;
  host: string;
  /** Null while it is not known. */
  ip: string | null;
}

/** How many requests were begun in a window, by kind and scope (`delivery:host`). */
export interface WindowUse {
  scope: string;
  key: string;
  used: number;
}

/** What is full, and what of it: a window ends with its minute, a slot becomes free at any time. */
export interface Full {
  scope: LimitScope;
  what: 'window' | 'slots';
}

/** What of the limits is left at one moment; it says no more than it was told, so the telling must be under a lock. */
export interface Budget {
  /** What stands in the way of a request, if anything does; a window rather than slots where both do. */
  full(destination: Destination): Full | undefined;
  /** The workspaces, hosts or addresses that have nothing left. */
  exhausted(scope: LimitScope): string[];
  take(destination: Destination): void;
}

export function budget(
  kind: RequestKind,
  used: { windows: readonly WindowUse[]; slots: readonly Destination[] },
): Budget {
  const counts = {
    window: tally(used.windows.map(({ scope, key, used: count }) => [`${scope} ${key}`, count])),
    slots: tally(used.slots.flatMap((slot) => keysOf(slot).map(([scope, key]) => [`${kind}:${scope} ${key}`, 1]))),
  };
  const limits = { window: WINDOWS[kind], slots: SLOTS };
  const WHATS = ['window', 'slots'] as const;
  return {
    full(destination) {
      for (const what of WHATS) {
        for (const [scope, key] of keysOf(destination)) {
          if ((counts[what].get(`${kind}:${scope} ${key}`) ?? 0) >= limits[what][scope]) return { scope, what };
        }
      }
      return undefined;
    },
    exhausted(scope) {
      const prefix = `${kind}:${scope} `;
      return WHATS.flatMap((what) =>
        [...counts[what]]
          .filter(([name, count]) => name.startsWith(prefix) && count >= limits[what][scope])
          .map(([name]) => name.slice(prefix.length)),
      );
    },
    take(destination) {
      for (const [scope, key] of keysOf(destination)) {
        for (const what of WHATS) {
          const name = `${kind}:${scope} ${key}`;
          counts[what].set(name, (counts[what].get(name) ?? 0) + 1);
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

/** The windows that a request counts in, as they are stored. */
export function windowKeys(kind: RequestKind, destination: Destination): { scope: string; key: string }[] {
  return keysOf(destination).map(([scope, key]) => ({ scope: `${kind}:${scope}`, key }));
}

function keysOf({ workspaceId, host, ip }: Destination): [LimitScope, string][] {
  return [
    ['all', ''],
    ['workspace', String(workspaceId)],
    ['host', host],
    ...(ip === null ? [] : [['ip', ip] as [LimitScope, string]]),
  ];
}
