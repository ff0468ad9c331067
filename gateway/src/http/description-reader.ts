import { entityTagOf, type ServiceAddresses, type Target } from '@tocsin/http';
import { type Logger, startPeriodicTask } from '@tocsin/runtime';
import type { ServiceWorker } from '@tocsin/service-host';
import { type DescriptionRead, readDescription } from '../clients/description-client.ts';
import { editions } from '../domain/editions.ts';
import {
  checkDescription,
  type CheckedDescription,
  InvalidDescription,
  MAX_DESCRIPTION_BYTES,
} from './check-description.ts';

/** When a description is read, and how long it is used; times are in milliseconds. */
export interface ReadTiming {
  /** From the start to the first read. */
  firstReadAfter: number;
  /** Between two reads; each reader has its own, up to a fifth longer, so that gateways do not all read at once. */
  interval: number;
  /** How many reads in a row, and how long, an edition must have been absent to be dropped. */
  absentReads: number;
  absentFor: number;
  /** For one read. */
  deadline: number;
}

/**
 * With a quarter of the processes of another release, one of a thousand series of 24 reads misses them. Late costs little:
 * meanwhile the service itself says 404 for what it has removed.
 */
const TIMING: ReadTiming = {
  firstReadAfter: 0,
  interval: 5_000,
  absentReads: 24,
  absentFor: 120_000,
  deadline: 3_000,
};
/** A service that shows a new one at every read does not make the gateway build a route table at every read. */
const MAX_EDITIONS = 4;
/** How many refused editions are neither read nor checked again. */
const MAX_REFUSED = 8;

/** How a read ended. */
export type ReadOutcome = 'unchanged' | 'changed' | 'refused' | 'none' | 'failed';

/** Reads the description of a running service again and again, at each of its addresses. */
export interface DescriptionReader extends ServiceWorker {
  /** Those in use, the newest first; never empty. */
  readonly current: readonly CheckedDescription[];
  /** Whether the latest reads that succeeded saw an edition that is refused. */
  readonly seesRefused: boolean;
}

export function startDescriptionReader(options: {
  service: string;
  addresses: Pick<ServiceAddresses, 'all'>;
  /** In use until others are seen. */
  baked: CheckedDescription;
  timing?: Partial<ReadTiming> | undefined;
  log: Logger;
  onRead: (outcome: ReadOutcome) => void;
  /** Called after `current` has changed. */
  onChange: () => void;
}): DescriptionReader {
  const { service, onChange } = options;
  const log = options.log.child({ upstream: service });
  const timing = { ...TIMING, ...options.timing };
  const stopping = new AbortController();
  const rules = { absentReads: timing.absentReads, absentFor: timing.absentFor, max: MAX_EDITIONS };
  const seen = editions(options.baked, rules, performance.now());
  const refused = new Set<string>();
  let seesRefused = false;
  let lastOutcome: ReadOutcome = 'unchanged';

  const refuse = (id: string | undefined, reason: string): ReadOutcome => {
    // What cannot be remembered is refused at every read, and said once.
    if (id !== undefined || lastOutcome !== 'refused') {
      log.warn({ edition: id, reason }, 'refused the description of a service; its routes stay as they are');
    }
    const [oldest] = refused;
    if (refused.size >= MAX_REFUSED && oldest !== undefined) refused.delete(oldest);
    if (id !== undefined) refused.add(id);
    return 'refused';
  };

  const add = async (bytes: Buffer): Promise<ReadOutcome> => {
    const description = await checkDescription(service, bytes);
    // A service without operations has no reason to exist; its routes stay.
    if (description.operations.length === 0) throw new InvalidDescription('it has no operations');
    if (seen.add(description, performance.now())) return 'changed';
    // Not remembered: it may be added later.
    return refuse(undefined, `${MAX_EDITIONS} other editions are in use`);
  };

  const evaluate = async (read: DescriptionRead): Promise<ReadOutcome> => {
    switch (read.kind) {
      case 'none':
        return 'none';
      case 'known':
        return seen.see(read.tag, performance.now()) ? 'unchanged' : 'refused';
      case 'too large':
        if (read.tag !== undefined && refused.has(read.tag)) return 'refused';
        return refuse(read.tag, `it has more than ${MAX_DESCRIPTION_BYTES} bytes`);
      case 'read':
    }
    const id = entityTagOf(read.bytes);
    if (refused.has(id)) return 'refused';
    if (seen.see(id, performance.now())) return 'unchanged';
    try {
      return await add(read.bytes);
    } catch (error) {
      if (!(error instanceof InvalidDescription)) throw error;
      return refuse(id, error.message);
    }
  };

  const readOnce = async (target: Target): Promise<ReadOutcome> => {
    try {
      const known = [...seen.current.map(({ id }) => id), ...refused];
      const { deadline } = timing;
      const { signal } = stopping;
      return await evaluate(
        await readDescription(target, { known, maxBytes: MAX_DESCRIPTION_BYTES, deadline, signal }),
      );
    } catch (error) {
      // Said once: a service that is down is reported by its health check.
      if (lastOutcome !== 'failed') log.info({ err: error }, 'cannot read the description of a service');
      return 'failed';
    }
  };

  const work = async () => {
    const before = seen.current.map(({ id }) => id).join();
    const outcomes = new Set<ReadOutcome>();
    // One after the other: what one of them finds is known to the next. An address that is down would only cost time.
    for (const address of readableOf(options.addresses)) {
      const outcome = await readOnce(address);
      if (stopping.signal.aborted) return false;
      if (outcome === 'none' && lastOutcome !== 'none') log.info('a service serves no description: an earlier release');
      lastOutcome = outcome;
      outcomes.add(outcome);
      options.onRead(outcome);
    }
    if ([...outcomes].some((outcome) => outcome !== 'failed')) seesRefused = outcomes.has('refused');
    if (seen.current.map(({ id }) => id).join() !== before) onChange();
    return false;
  };

  const interval = timing.interval * (1 + Math.random() / 5);
  const task = startPeriodicTask({ name: 'reading the description of a service', interval, log, work });
  const firstRead = setTimeout(task.wake, timing.firstReadAfter);
  return {
    get current() {
      return seen.current;
    },
    get seesRefused() {
      return seesRefused;
    },
    stop: async () => {
      clearTimeout(firstRead);
      stopping.abort();
      await task.stop();
    },
  };
}

function readableOf({ all }: Pick<ServiceAddresses, 'all'>): readonly Target[] {
  const alive = all.filter(({ health }) => health.state !== 'down');
  return alive.length > 0 ? alive : all.slice(0, 1);
}
