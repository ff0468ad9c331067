import { boundedCache } from '@tocsin/runtime';
import CircuitBreaker from 'opossum';

/**
 * One circuit breaker per receiver host. While a host does not respond at all, its deliveries wait, except for one
 * probe per second. Breakers only keep slots free for other hosts; the failures that pause a subscription are counted
 * in the database.
 */
export interface HostBreakers {
  /** Hosts that may not be sent to now. */
  blockedHosts(): string[];
  /** Whether a request to the host may start. After `true` the caller must call `record`. */
  admit(host: string): boolean;
  /** @param isReachable undefined when the request says nothing about the host, for example because it was cancelled */
  record(host: string, isReachable: boolean | undefined): void;
  openCount(): number;
  close(): void;
}

const OPTIONS = {
  timeout: false,
  // One more than the failures that pause a subscription, so that one subscription alone cannot open a host's breaker.
  volumeThreshold: 6,
  errorThresholdPercentage: 50,
  // A host gets at most ten requests a minute, so a shorter window would rarely hold enough failures.
  rollingCountTimeout: 60_000,
  // Much shorter than the shortest retry delay.
  resetTimeout: 1_000,
  rollingPercentilesEnabled: false,
  enableSnapshots: false,
} as const;

const MAX_HOSTS = 256;
/** Estimate for one breaker with its buckets, listeners and timer. */
const BREAKER_BYTES = 16_384;

/** @param onReady called when a host may be probed again */
export function hostBreakers(onReady: () => void): HostBreakers {
  const probing = new Set<string>();
  const breakers = boundedCache<string, CircuitBreaker<[boolean], void>>({
    bytes: MAX_HOSTS * BREAKER_BYTES,
    sizeOf: () => BREAKER_BYTES,
    dispose: (breaker) => breaker.shutdown(),
  });
  const breakerOf = (host: string) => {
    let breaker = breakers.get(host);
    if (breaker === undefined) {
      breaker = new CircuitBreaker(async (isReachable: boolean) => {
        if (!isReachable) throw new Error('no response');
      }, OPTIONS);
      breaker.on('halfOpen', onReady);
      breaker.on('close', onReady);
      breakers.set(host, breaker);
    }
    return breaker;
  };
  const isBlocked = (host: string, breaker: CircuitBreaker<[boolean], void>) =>
    breaker.opened || (breaker.halfOpen && probing.has(host));

  return {
    blockedHosts: () =>
      [...breakers.entries()].filter(([host, breaker]) => isBlocked(host, breaker)).map(([host]) => host),
    admit(host) {
      const breaker = breakerOf(host);
      if (isBlocked(host, breaker)) return false;
      if (breaker.halfOpen) probing.add(host);
      return true;
    },
    record(host, isReachable) {
      probing.delete(host);
      // Rejects for a failure that it records, and when the breaker has opened meanwhile.
      if (isReachable !== undefined)
        void breakerOf(host)
          .fire(isReachable)
          .catch(() => undefined);
    },
    openCount: () => [...breakers.values()].filter((breaker) => !breaker.closed).length,
    close: () => breakers.clear(),
  };
}
