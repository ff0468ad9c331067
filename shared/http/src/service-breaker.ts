import CircuitBreaker from 'opossum';

/** Tells whether another service can be reached, from the outcomes of calls to it. */
export interface ServiceBreaker {
  /** False while the service counts as down. */
  readonly closed: boolean;
  /** The service sent a response, of whatever status. */
  recordResponse(): void;
  /** No connection, or one that broke before a response. */
  recordFailure(error: Error): void;
  /** A call has waited long. Asks the service for its health, and records the outcome. */
  probe(): void;
  stop(): void;
}

const OPTIONS = {
  timeout: false,
  volumeThreshold: 3,
  errorThresholdPercentage: 50,
  rollingCountTimeout: 5_000,
  resetTimeout: 1_000,
  rollingPercentilesEnabled: false,
  enableSnapshots: false,
} as const;

/** Failed probes in a row that open the breaker if no call had a response in the last seconds. */
const PROBES = OPTIONS.volumeThreshold;
const PROBE_TIMEOUT = 800;

/**
 * A breaker that opens for a dead service, not for a slow or an erroneous response: these may concern one workspace only,
 * and an open breaker refuses the requests of all. A service that hangs is recognized by its health endpoint. While the
 * breaker is open, it asks that endpoint every second, so that recovery needs no call.
 */
export function serviceBreaker(baseUrl: string): ServiceBreaker {
  const breaker = new CircuitBreaker(async (failure: Error | undefined) => {
    if (failure !== undefined) throw failure;
  }, OPTIONS);
  const record = (failure?: Error) => void breaker.fire(failure).catch(() => undefined);
  let probing = false;
  let stopped = false;

  const probe = async (times: number) => {
    if (probing) return;
    probing = true;
    for (let left = times; left > 0 && !stopped; left -= 1) {
      const failure = await failureOf(baseUrl);
      record(failure);
      if (failure === undefined) break;
    }
    probing = false;
  };
  breaker.on('halfOpen', () => void probe(1));

  return {
    get closed() {
      return breaker.closed;
    },
    recordResponse: () => record(),
    recordFailure: record,
    probe: () => {
      if (breaker.closed) void probe(PROBES);
    },
    stop: () => {
      stopped = true;
      breaker.shutdown();
    },
  };
}

/** Any response means that the service is alive. */
async function failureOf(baseUrl: string): Promise<Error | undefined> {
  try {
    const response = await fetch(new URL('/healthz', baseUrl), { signal: AbortSignal.timeout(PROBE_TIMEOUT) });
    await response.body?.cancel();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
