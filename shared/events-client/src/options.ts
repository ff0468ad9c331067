import { type Connection, connector } from './connection.ts';
import type { ConsumerError } from './errors.ts';
import type { TocsinEvent } from './event-types.ts';
import { MAX_EVENT_BYTES } from './parse-event.ts';
import type { Outcome, Remember } from './remember.ts';
import type { Topology } from './topology.ts';
import { checkPatterns, type MatchingType, type TypePattern } from './type-patterns.ts';

/**
 * `connecting`, then `consuming`. `paused`: the handler reports an outage, and one event after the other tests whether
 * it is over. `waiting`: the connection is lost or the set-up failed; the next attempt follows. `stopped`: for ever.
 */
export type ConsumerState = 'connecting' | 'consuming' | 'paused' | 'waiting' | 'stopped';

/** What became of a message: as `Outcome`, or as `ConsumerErrorCode`; `ignored`: its type is unknown or not wanted. */
export type MessageOutcome = Outcome | 'ignored' | 'broken_message' | 'newer_version' | 'handler_failed';

/** What a handler gets in addition to the event. */
export interface HandleContext<Transaction> {
  /** Of `remember`; what is written in it commits together with the record that the event was handled. */
  transaction: Transaction;
  /** Aborted when the handler has no more time: after `handleTimeout`, or when the consumer stops. */
  signal: AbortSignal;
  /** The number of earlier deliveries that failed. */
  failures: number;
}

export interface ConsumeOptions<Pattern extends TypePattern, Transaction = undefined> {
  connection: Connection;
  /** The name of your queue. The dead-letter exchange and queue are `<queue>.dead`. */
  queue: string;
  /** Event types, or patterns such as `incident.*`. Messages of other types are ignored. */
  types: readonly Pattern[];
  /** Called once for each event that is neither a duplicate nor outdated. Rejects: the event is delivered again. */
  handle: (event: TocsinEvent<MatchingType<Pattern>>, context: HandleContext<Transaction>) => Promise<void> | void;
  /** Recognises events that were handled; default `rememberInMemory()`. */
  remember?: Remember<Transaction>;
  /**
   * `revision`: an event that is older than the last one of the same resource is not handled, and events of one resource
   * are handled one after the other. For consumers that keep the latest state. Default: every event is handled.
   */
  order?: 'revision';
  /** Tocsin's `TOCSIN_NAMESPACE`; default `tocsin`. */
  namespace?: string;
  /** Handlers at the same time; default 10. */
  concurrency?: number;
  /** Messages without an acknowledgement, those that wait for a retry included; default twice `concurrency`, at least 20. */
  prefetch?: number;
  /** Deliveries of an event until it goes to the dead letters; default 10. Cannot change while the queue exists. */
  deliveryLimit?: number;
  /** Milliseconds from a failed delivery to the next, by the number of failures; the last repeats. */
  retryDelays?: readonly number[];
  /** Recognises errors of `handle` for which the event is not to blame, such as a database that is not reachable. */
  isOutage?: (error: unknown) => boolean;
  /** Milliseconds until the signal of a handler is aborted; default 60,000. */
  handleTimeout?: number;
  /**
   * Milliseconds from then until the consumer gives the handler up, as if it had rejected; default 10,000. Its event is
   * delivered again, and others of its resource are handled, although the handler may still run.
   */
  giveUpTimeout?: number;
  /** Milliseconds that `stop` waits for handlers; default 10,000. */
  stopTimeout?: number;
  /** Bytes of the largest message that is read; default `MAX_EVENT_BYTES`. */
  maxBytes?: number;
  /**
   * Milliseconds without a consumer after which RabbitMQ deletes the queue and its messages; default: never, so that an
   * abandoned queue grows. Cannot change while the queue exists.
   */
  expireAfter?: number;
  /** Stops the consumer when it is aborted. */
  signal?: AbortSignal;
  onError: (error: ConsumerError) => void;
  onState?: (state: ConsumerState) => void;
  /** For metrics. */
  onMessage?: (outcome: MessageOutcome, event: { id: string | undefined; type: string | undefined }) => void;
}

/** Ten deliveries take about four minutes. */
const RETRY_DELAYS: readonly number[] = [100, 1_000, 5_000, 10_000, 20_000, 40_000, 60_000];
/** The largest delay of a timer in Node. */
const MAX_TIME = 2_147_483_647;
/** AMQP allows 255 bytes; names of dead letters are longer by five. */
const MAX_NAME = 250;

/** Options that are checked and complete. */
export type Settings = ReturnType<typeof checkOptions>;

/** @throws TypeError that names the option which is not valid */
export function checkOptions<Pattern extends TypePattern, Transaction>(options: ConsumeOptions<Pattern, Transaction>) {
  const { queue, namespace = 'tocsin', retryDelays = RETRY_DELAYS, concurrency = 10 } = options;
  checkName('queue', queue);
  checkName('namespace', namespace);
  if (queue.startsWith(`${namespace}.`)) {
    throw new TypeError(`queue must not begin with ${namespace}. like the queues of Tocsin itself`);
  }
  checkPatterns(options.types);
  const whole = (name: keyof typeof options, value: number, [min, max]: readonly [number, number]) => {
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    throw new TypeError(`${name} must be an integer from ${min} to ${max}`);
  };
  if (retryDelays.length === 0) throw new TypeError('retryDelays must have at least one delay');
  const topology: Topology = {
    exchange: `${namespace}.events`,
    queue,
    patterns: [...options.types],
    deliveryLimit: whole('deliveryLimit', options.deliveryLimit ?? 10, [1, 1_000]),
    expireAfter:
      options.expireAfter === undefined ? undefined : whole('expireAfter', options.expireAfter, [60_000, MAX_TIME]),
  };
  whole('concurrency', concurrency, [1, 1_000]);
  return {
    open: connector(options.connection, `@tocsin/events ${queue}`),
    topology,
    concurrency,
    prefetch: whole('prefetch', options.prefetch ?? Math.max(20, 2 * concurrency), [concurrency, 65_535]),
    retryDelays: retryDelays.map((delay) => whole('retryDelays', delay, [0, MAX_TIME])),
    isOrdered: options.order === 'revision',
    handleTimeout: whole('handleTimeout', options.handleTimeout ?? 60_000, [1, MAX_TIME]),
    giveUpTimeout: whole('giveUpTimeout', options.giveUpTimeout ?? 10_000, [1, MAX_TIME]),
    stopTimeout: whole('stopTimeout', options.stopTimeout ?? 10_000, [0, MAX_TIME]),
    maxBytes: whole('maxBytes', options.maxBytes ?? MAX_EVENT_BYTES, [1, 536_870_912]),
  };
}

function checkName(option: string, name: string): void {
  if (!/^[\w.:-]+$/.test(name) || name.length > MAX_NAME || name.startsWith('amq.')) {
    throw new TypeError(
      `${option} must have 1 to ${MAX_NAME} letters, digits, dots, colons, hyphens and underscores, and must not begin with amq.`,
    );
  }
}
