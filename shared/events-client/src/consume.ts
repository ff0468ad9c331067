import { setMaxListeners } from 'node:events';
import type { ConsumeMessage } from 'amqplib';
import { pause, reconnectDelay, within } from './backoff.ts';
import { ConsumerError } from './errors.ts';
import type { TocsinEvent } from './event-types.ts';
import { deliveryHandler, type HandlerOptions } from './handler.ts';
import { KeyedTasks } from './keyed-tasks.ts';
import { checkOptions, type ConsumeOptions, type ConsumerState, type MessageOutcome } from './options.ts';
import { parseEvent } from './parse-event.ts';
import { positionOf } from './position.ts';
import { type Remember, rememberInMemory } from './remember.ts';
import { Session } from './session.ts';
import { matchesAny, type TypePattern } from './type-patterns.ts';

export interface EventConsumer {
  readonly state: ConsumerState;
  /**
   * Takes no more messages, waits for those that were delivered, at most `stopTimeout`, and closes the connection.
   * Never rejects. May be called again.
   * @returns the number of events whose handling did not end in time; the broker delivers them again
   */
  stop(): Promise<{ unfinished: number }>;
}

/** Milliseconds after which a session counts as stable, and the next attempt to connect follows quickly. */
const STABLE = 10_000;
/** Milliseconds for handlers to end after their signal is aborted. */
const ABORT_GRACE = 1_000;

/**
 * Consumes events until it is stopped, across restarts of the broker. A message is acknowledged after `handle` has
 * ended. An event whose handling fails is delivered again after a delay, and goes to the dead letters at the delivery
 * limit. Messages that nothing can read go there at once; those of unknown types are ignored.
 * @throws TypeError that names the option which is not valid
 */
export function consume<const Pattern extends TypePattern, Transaction = undefined>(
  options: ConsumeOptions<Pattern, Transaction>,
): EventConsumer {
  const settings = checkOptions(options);
  const { topology } = settings;
  const tasks = new KeyedTasks(settings.concurrency);
  const stopping = new AbortController();
  const ending = new AbortController();
  // One for each handler: Node 20 would warn of more than ten.
  setMaxListeners(0, stopping.signal, ending.signal);
  let state: ConsumerState = 'connecting';
  let session: Session | undefined;
  let isPaused = false;

  const report = (error: ConsumerError) => protect(() => options.onError(error));
  const conclude = (outcome: MessageOutcome, { id, type }: { id: string | undefined; type: string | undefined }) =>
    protect(() => options.onMessage?.(outcome, { id, type }));
  const setState = (next: ConsumerState) => {
    if (state === next) return;
    state = next;
    protect(() => options.onState?.(next));
  };

  const handle = deliveryHandler<Transaction>({
    settings,
    remember: options.remember ?? (rememberInMemory() as Remember<unknown> as Remember<Transaction>),
    handle: options.handle as HandlerOptions<Transaction>['handle'],
    isOutage: (error) => {
      let isOutage = false;
      protect(() => (isOutage = options.isOutage?.(error) ?? false));
      return isOutage;
    },
    stopping: stopping.signal,
    ending: ending.signal,
    report,
    setPaused: (paused) => {
      tasks.setPaused(paused);
      isPaused = paused;
      if (state === 'consuming' || state === 'paused') setState(paused ? 'paused' : 'consuming');
    },
  });

  const receive = (from: Session, message: ConsumeMessage) => {
    const parsed = parseEvent(message.content, { maxBytes: settings.maxBytes });
    if (parsed.kind === 'event' && matchesAny(topology.patterns, parsed.event.type)) {
      schedule(from, message, parsed.event);
    } else if (parsed.kind === 'event' || parsed.kind === 'unknown_type') {
      from.ack(message);
      conclude('ignored', parsed.event);
    } else {
      const code = parsed.kind === 'broken' ? 'broken_message' : 'newer_version';
      const text =
        parsed.kind === 'broken'
          ? `a message is broken: ${parsed.detail}`
          : `an event has schema_version ${parsed.schemaVersion}, which this version of the package does not know`;
      report(new ConsumerError(code, `${text}; it is now a dead letter`, { event: parsed }));
      from.deadLetter(message);
      conclude(code, parsed);
    }
  };

  const schedule = (from: Session, message: ConsumeMessage, event: TocsinEvent) => {
    // An event that is delivered again after a lost connection must wait for its first handler.
    const key = (settings.isOrdered ? positionOf(event)?.resource : undefined) ?? event.id;
    const run = async () => {
      const outcome = await handle({ session: from, message, event });
      if (outcome !== undefined) conclude(outcome, event);
    };
    tasks.add({ key, run });
  };

  /** Consumes with one session. @returns the milliseconds for which it consumed */
  const consumeOnce = async (): Promise<number> => {
    setState('connecting');
    let started: number | undefined;
    try {
      const { open, prefetch } = settings;
      session = await Session.open({ open, topology, prefetch, signal: stopping.signal, onMessage: receive });
      started = performance.now();
      if (stopping.signal.aborted) await session.close();
      else setState(isPaused ? 'paused' : 'consuming');
      throw await session.ended;
    } catch (error) {
      const text = started === undefined ? 'cannot consume the queue' : 'no longer consuming the queue';
      if (!stopping.signal.aborted) {
        setState('waiting');
        report(new ConsumerError('connection', `${text}; trying again`, { cause: error }));
        // The broker delivers these messages again.
        tasks.clear();
        await session?.close();
      }
    }
    return started === undefined ? 0 : performance.now() - started;
  };

  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      if ((await consumeOnce()) > STABLE) failures = 0;
      await pause(reconnectDelay(failures), stopping.signal);
    }
  };
  const running = run();

  const stopOnce = async () => {
    options.signal?.removeEventListener('abort', onAbort);
    stopping.abort();
    await session?.cancel();
    await within(tasks.whenIdle(), settings.stopTimeout, () => undefined);
    ending.abort();
    const unfinished = tasks.size;
    await within(tasks.whenIdle(), ABORT_GRACE, () => undefined);
    tasks.clear();
    await session?.close();
    await running;
    setState('stopped');
    return { unfinished };
  };
  let stopped: Promise<{ unfinished: number }> | undefined;
  const stop = async () => (stopped ??= stopOnce());
  const onAbort = () => void stop();
  if (options.signal?.aborted === true) onAbort();
  else options.signal?.addEventListener('abort', onAbort);

  return {
    get state() {
      return state;
    },
    stop,
  };
}

/** A callback that throws must not stop the consumer. */
function protect(callback: () => unknown): void {
  try {
    callback();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
