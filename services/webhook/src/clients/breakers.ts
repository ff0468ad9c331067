import { LRUCache } from 'lru-cache';
import CircuitBreaker from 'opossum';

/**
 * A circuit breaker for each receiver's host: while a host does not answer at all, deliveries to it wait, except for one that
 * probes every second. It only spares slots that others could use; what counts, and stops a subscription, is in the database.
 */
export interface Breakers {
  /** Hosts that nothing may be sent to now. */
  refused(): string[];
  /** Whether a request may begin; every one that may must be concluded. */
  admit(host: string): boolean;
  /** @param answered undefined when the request was called off and says nothing about the host */
  conclude(host: string, answered: boolean | undefined): void;
  openCount(): number;
  close(): void;
}

const OPTIONS = {
  timeout: false,
  // One more than the failures that stop a subscription: no single one can close a host to the others.
  volumeThreshold: 6,
  errorThresholdPercentage: 50,
  // A host gets ten requests a minute at most, so a shorter memory would hardly see it fail.
  rollingCountTimeout: 60_000,
  // Much shorter than the shortest delay of a retry.
  resetTimeout: 1_000,
  rollingPercentilesEnabled: false,
  enableSnapshots: false,
} as const;

const MAX_HOSTS = 256;

/** @param onReady called when a host may be probed again */
export function breakers(onReady: () => void): Breakers {
  const probing = new Set<string>();
  const known = new LRUCache<string, CircuitBreaker<[boolean], void>>({
    max: MAX_HOSTS,
    dispose: (breaker) => breaker.shutdown(),
  });
  const breakerOf = (host: string) => {
    let breaker = known.get(host);
    if (breaker === undefined) {
      breaker = new CircuitBreaker(async (answered: boolean) => {
        if (!answered) throw new Error('no answer');
      }, OPTIONS);
      breaker.on('halfOpen', onReady);
      breaker.on('close', onReady);
      known.set(host, breaker);
    }
    return breaker;
  };
  const refuses = (host: string, breaker: CircuitBreaker<[boolean], void>) =>
    breaker.opened || (breaker.halfOpen && probing.has(host));

  return {
    refused: () => [...known.entries()].filter(([host, breaker]) => refuses(host, breaker)).map(([host]) => host),
    admit(host) {
      const breaker = breakerOf(host);
      if (refuses(host, breaker)) return false;
      if (breaker.halfOpen) probing.add(host);
      return true;
    },
    conclude(host, answered) {
      probing.delete(host);
      // It rejects with what it is told, or because it opened meanwhile.
      if (answered !== undefined)
        void breakerOf(host)
          .fire(answered)
          .catch(() => undefined);
    },
    openCount: () => [...known.values()].filter((breaker) => !breaker.closed).length,
    close: () => known.clear(),
  };
}
