import type { Probe } from './probe.ts';

/** A request whose response has not been received. Times are of the clock of `performance`. */
export interface WatchedRequest {
  readonly sentAt: number;
  readonly deadlineAt: number;
  /** Milliseconds after which its silence is a reason to check the process. */
  readonly suspectAfter: number;
  /** Whether it can be sent again. Otherwise one silent check is no reason to give it up: the process may be busy. */
  readonly isRepeatable: boolean;
  /** Ends the wait. */
  abort(reason: 'deadline' | 'down'): void;
}

/**
 * Whether a process of a service lives, found out by its health check alone: responses of its API never say that it is
 * dead. A process that is `draining` stops soon: it still answers, and gets requests only if there is no other.
 */
export interface ServiceHealth {
  readonly state: 'up' | 'draining' | 'down';
  /** Gives the request up at its deadline, or when the process turns out to be dead. */
  watch(request: WatchedRequest): void;
  unwatch(request: WatchedRequest): void;
  /**
   * Checks the process now.
   * @param reason `doubt`: a connection to it failed, or a response said that it stops. For a `routine` check, silence
   *   proves nothing: the process may be busy, and whoever waits for a response has doubts soon enough.
   */
  check(reason: 'doubt' | 'routine'): void;
  /** Checks no more by itself. Requests are watched to their end. */
  retire(): void;
  stop(): void;
}

/** How often watched requests are looked at; milliseconds. */
const TICK = 100;
/** A process that has not begun a response after this time is checked, and again after as long. */
export const SUSPECT_AFTER_MS = 500;
/** Between two checks of a process that is not up. */
const PROBE_INTERVAL = 500;
/** After so many silent checks all its requests are given up. */
const SILENT_CHECKS = 2;

export function serviceHealth(options: {
  probe: () => Promise<Probe>;
  onChange: (state: ServiceHealth['state'], failure: Error | undefined) => void;
}): ServiceHealth {
  /** In the order in which they were sent. */
  const watched = new Set<WatchedRequest>();
  let ticker: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let state: ServiceHealth['state'] = 'up';
  let retired = false;
  let stopped = false;
  const isStopped = () => stopped;
  let isProbing = false;
  /** Whether the next outcome counts even if it is silence. */
  let inDoubt = false;
  let lastHealthy = -Infinity;
  let silentChecks = 0;

  const giveUp = (all: boolean) => {
    for (const request of watched) if (all || request.isRepeatable) request.abort('down');
  };

  const check = async (reason: 'doubt' | 'routine') => {
    inDoubt ||= reason === 'doubt';
    if (isProbing || isStopped()) return;
    isProbing = true;
    clearTimeout(retry);
    const probe = await options.probe();
    isProbing = false;
    const counts = inDoubt || probe.timedOut !== true;
    inDoubt = false;
    if (isStopped() || !counts) return;
    const before = state;
    ({ state } = probe);
    silentChecks = probe.timedOut === true ? silentChecks + 1 : 0;
    if (state === 'down') giveUp(probe.timedOut !== true || silentChecks >= SILENT_CHECKS);
    else lastHealthy = performance.now();
    if (state !== 'up' && !retired) retry = setTimeout(() => void check('doubt'), PROBE_INTERVAL).unref();
    if (state !== before) options.onChange(state, probe.failure);
  };

  const look = () => {
    const now = performance.now();
    let isSuspicious = false;
    for (const request of watched) {
      if (now >= request.deadlineAt) request.abort('deadline');
      else isSuspicious ||= now - request.sentAt >= request.suspectAfter;
    }
    if (watched.size === 0) {
      clearInterval(ticker);
      ticker = undefined;
    } else if (isSuspicious && now - lastHealthy >= SUSPECT_AFTER_MS) void check('doubt');
  };

  return {
    get state() {
      return state;
    },
    watch: (request) => {
      watched.add(request);
      ticker ??= setInterval(look, TICK);
    },
    unwatch: (request) => watched.delete(request),
    // While it is known not to be up, the next check is due already.
    check: (reason) => void (state === 'up' && check(reason)),
    retire: () => {
      retired = true;
      clearTimeout(retry);
    },
    stop: () => {
      stopped = true;
      clearInterval(ticker);
      clearTimeout(retry);
    },
  };
}
