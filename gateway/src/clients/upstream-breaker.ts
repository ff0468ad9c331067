import CircuitBreaker from 'opossum';

/** Whether a service is worth sending requests to. Outcomes are told to it; it wraps no call. */
export interface UpstreamBreaker {
  /** False while the service is taken for dead. */
  readonly closed: boolean;
  record(failure: Error | undefined): void;
  stop(): void;
}

const PROBE_INTERVAL = 1_000;

/**
 * opossum's books, kept by explicit outcomes: around a stream it would take a client that hangs up for a failing
 * service. While it is open, `probe` asks the service itself every second, so that no client's request is spent on
 * finding out, and none is needed.
 */
export function upstreamBreaker(options: {
  probe: () => Promise<Error | undefined>;
  onChange: (closed: boolean) => void;
}): UpstreamBreaker {
  const breaker = new CircuitBreaker(
    async (failure: Error | undefined) => {
      if (failure !== undefined) throw failure;
    },
    {
      timeout: false,
      volumeThreshold: 5,
      errorThresholdPercentage: 50,
      rollingCountTimeout: 5_000,
      rollingCountBuckets: 5,
      resetTimeout: PROBE_INTERVAL,
      rollingPercentilesEnabled: false,
      enableSnapshots: false,
    },
  );
  const record = (failure: Error | undefined) => void breaker.fire(failure).catch(() => undefined);
  breaker.on('halfOpen', () => void options.probe().then(record));
  breaker.on('open', () => options.onChange(false));
  breaker.on('close', () => options.onChange(true));
  return {
    get closed() {
      return breaker.closed;
    },
    record,
    stop: () => breaker.shutdown(),
  };
}
