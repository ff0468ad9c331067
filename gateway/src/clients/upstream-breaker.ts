import CircuitBreaker from 'opossum';

/** A circuit breaker that gets the outcomes of requests instead of wrapping calls. */
export interface UpstreamBreaker {
  /** False while the service counts as down. */
  readonly closed: boolean;
  record(failure: Error | undefined): void;
  stop(): void;
}

const PROBE_INTERVAL = 1_000;

/**
 * opossum with outcomes that the caller records: wrapped around a stream, it would count a client that closes its
 * connection as a failure of the service. While it is open, `probe` checks the service every second, so that recovery
 * needs no request of a client.
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
