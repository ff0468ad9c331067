/** A request that a service has received in whole and not begun to answer. */
export interface WaitingRequest {
  /** Milliseconds since it was sent; the clock of `performance`. */
  readonly sentAt: number;
  /** Milliseconds that the service has for it. */
  readonly deadline: number;
  /** Milliseconds after which its silence is a reason to check the service. */
  readonly patience: number;
  /** Ends the wait. */
  giveUp(reason: 'deadline' | 'down'): void;
}

/** Whether a service lives, found out by its health check alone: answers of its API never say that it is dead. */
export interface UpstreamHealth {
  /** False after a failed health check, until one succeeds. */
  readonly available: boolean;
  /** Gives the request up at its deadline, or when the service turns out to be dead. */
  watch(request: WaitingRequest): void;
  unwatch(request: WaitingRequest): void;
  /** Checks the service now: a connection to it failed. */
  suspect(): void;
  stop(): void;
}

/** How often waiting requests are looked at; milliseconds. */
const TICK = 100;
/** A service that has not begun a response after this time is checked, and again after as long. */
export const PATIENCE = 500;
const PROBE_INTERVAL = 500;

/** @param options `probe` resolves with the failure, or `undefined` when the service is healthy */
export function upstreamHealth(options: {
  probe: () => Promise<Error | undefined>;
  onChange: (available: boolean, failure: Error | undefined) => void;
}): UpstreamHealth {
  /** In the order in which they were sent. */
  const waiting = new Set<WaitingRequest>();
  let ticker: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let available = true;
  let stopped = false;
  const isStopped = () => stopped;
  let isProbing = false;
  let lastHealthy = -Infinity;

  const check = async () => {
    if (isProbing || isStopped()) return;
    isProbing = true;
    const failure = await options.probe();
    isProbing = false;
    if (isStopped()) return;
    const changed = available !== (failure === undefined);
    available = failure === undefined;
    if (available) lastHealthy = performance.now();
    else {
      for (const request of waiting) request.giveUp('down');
      retry = setTimeout(() => void check(), PROBE_INTERVAL).unref();
    }
    if (changed) options.onChange(available, failure);
  };

  const look = () => {
    const now = performance.now();
    let isSuspicious = false;
    for (const request of waiting) {
      const waited = now - request.sentAt;
      if (waited >= request.deadline) request.giveUp('deadline');
      else isSuspicious ||= waited >= request.patience;
    }
    if (waiting.size === 0) {
      clearInterval(ticker);
      ticker = undefined;
    } else if (isSuspicious && now - lastHealthy >= PATIENCE) void check();
  };

  return {
    get available() {
      return available;
    },
    watch: (request) => {
      waiting.add(request);
      ticker ??= setInterval(look, TICK);
    },
    unwatch: (request) => waiting.delete(request),
    // While it is known to be dead, the next check is due already.
    suspect: () => void (available && check()),
    stop: () => {
      stopped = true;
      clearInterval(ticker);
      clearTimeout(retry);
    },
  };
}
