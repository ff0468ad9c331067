import { entityTagOf, type ServiceAddresses, type Target } from '@tocsin/http';
import { type Logger, startPeriodicTask } from '@tocsin/runtime';
import type { ServiceWorker } from '@tocsin/service-host';
import { readDescription } from '../clients/description-client.ts';
import { countAfterRound, type CountedVersion } from '../domain/description-versions.ts';
import {
  checkDescription,
  type CheckedDescription,
  InvalidDescription,
  MAX_DESCRIPTION_BYTES,
} from './check-description.ts';

/** When a description is read, and how long it counts; times are in milliseconds. */
export interface ReadTiming {
  /** From the start to the first round. */
  firstReadAfter: number;
  /** Between two rounds; each reader has its own, up to a fifth longer, so that gateways do not all read at once. */
  interval: number;
  /** In how many rounds in a row a description version must have been absent to be dropped. */
  absentRounds: number;
  /** For one read. */
  deadline: number;
}

/**
 * A version counts for two minutes after it was seen last. With a quarter of the processes of another release, one of a
 * thousand series of 24 reads misses them. Late costs little: meanwhile the service itself says 404 for what it has
 * removed.
 */
const TIMING: ReadTiming = { firstReadAfter: 0, interval: 5_000, absentRounds: 24, deadline: 3_000 };
/** A service that shows a new one at every read does not make the gateway build a route table at every read. */
const MAX_VERSIONS = 4;

/** How a read ended. */
export type ReadOutcome = 'unchanged' | 'changed' | 'refused' | 'none' | 'failed';

/** Reads the description of a running service again and again, at each of its addresses. */
export interface DescriptionReader extends ServiceWorker {
  /** Those that count, the newest first; never empty. */
  readonly current: readonly CheckedDescription[];
  /** Whether the last round that reached the service saw a description version that is refused. */
  readonly seesRefused: boolean;
}

export function startDescriptionReader(options: {
  service: string;
  addresses: Pick<ServiceAddresses, 'all'>;
  /** Counts until others are seen. */
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
  let counted: readonly CountedVersion<CheckedDescription>[] = [{ version: options.baked, absentRounds: 0 }];
  let seesRefused = false;
  /** What was said last about a read: a problem that lasts is said once. */
  let said = '';
  const say = (level: 'info' | 'warn', text: string, details: { err?: unknown; reason?: string } = {}) => {
    const line = `${text} ${details.reason ?? ''}`;
    if (line !== said) log[level](details, text);
    said = line;
  };

  const refuse = (reason: string): ReadOutcome => {
    say('warn', 'refused the description of a service; its routes stay as they are', { reason });
    return 'refused';
  };

  /** Adds what one address serves to what this round has seen. */
  const readAt = async (target: Target, seen: Map<string, CheckedDescription>): Promise<ReadOutcome> => {
    const known = new Map(seen);
    for (const { version } of counted) known.set(version.id, version);
    const { signal } = stopping;
    const read = await readDescription(target, {
      known: [...known.keys()],
      maxBytes: MAX_DESCRIPTION_BYTES,
      deadline: timing.deadline,
      signal,
    });
    if (read.kind === 'none') {
      say('info', 'a service serves no description: an earlier release');
      return 'none';
    }
    if (read.kind === 'too large') throw new InvalidDescription(`it has more than ${MAX_DESCRIPTION_BYTES} bytes`);
    const id = read.kind === 'known' ? read.tag : entityTagOf(read.bytes);
    let description = known.get(id);
    const isNew = description === undefined;
    if (description === undefined && read.kind === 'read') {
      description = await checkDescription(service, read.bytes);
      // A service without operations has no reason to exist; its routes stay.
      if (description.operations.length === 0) throw new InvalidDescription('it has no operations');
    }
    if (description !== undefined) seen.set(id, description);
    if (isNew && known.size >= MAX_VERSIONS) return refuse(`${MAX_VERSIONS} other versions count`);
    said = '';
    return isNew ? 'changed' : 'unchanged';
  };

  const outcomeAt = async (target: Target, seen: Map<string, CheckedDescription>): Promise<ReadOutcome> => {
    try {
      return await readAt(target, seen);
    } catch (error) {
      if (error instanceof InvalidDescription) return refuse(error.message);
      // A service that is down is reported by its health check.
      say('info', 'cannot read the description of a service', { err: error });
      return 'failed';
    }
  };

  const work = async () => {
    const seen = new Map<string, CheckedDescription>();
    const outcomes = new Set<ReadOutcome>();
    // One after the other: what one of them finds is known to the next. An address that is down would only cost time.
    for (const address of readableOf(options.addresses)) {
      const outcome = await outcomeAt(address, seen);
      if (stopping.signal.aborted) return false;
      outcomes.add(outcome);
      options.onRead(outcome);
    }
    if ([...outcomes].some((outcome) => outcome !== 'failed')) seesRefused = outcomes.has('refused');
    const before = idsOf(counted);
    counted = countAfterRound(counted, [...seen.values()], { max: MAX_VERSIONS, absentRounds: timing.absentRounds });
    if (idsOf(counted) !== before) onChange();
    return false;
  };

  const interval = timing.interval * (1 + Math.random() / 5);
  const task = startPeriodicTask({ name: 'reading the description of a service', interval, log, work });
  const firstRound = setTimeout(task.wake, timing.firstReadAfter);
  return {
    get current() {
      return counted.map(({ version }) => version);
    },
    get seesRefused() {
      return seesRefused;
    },
    stop: async () => {
      clearTimeout(firstRound);
      stopping.abort();
      await task.stop();
    },
  };
}

const idsOf = (counted: readonly CountedVersion<CheckedDescription>[]) =>
  counted.map(({ version }) => version.id).join();

function readableOf({ all }: Pick<ServiceAddresses, 'all'>): readonly Target[] {
  const alive = all.filter(({ health }) => health.state !== 'down');
  return alive.length > 0 ? alive : all.slice(0, 1);
}
