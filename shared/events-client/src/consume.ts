import { setMaxListeners } from 'node:events';
import type { ConsumeMessage } from 'amqplib';
import { pause, reconnectDelay, within } from './backoff.ts';
import { ConsumerError } from './errors.ts';
import type { TocsinEvent } from './event-types.ts';
import { type Delivery, deliveryHandler, type HandlerOptions } from './handler.ts';
import { KeyedTasks } from './keyed-tasks.ts';
import {
  checkOptions,
  type ConsumeOptions,
  type ConsumerState,
  type MessageOutcome,
  type Settings,
} from './options.ts';
import { parseEvent } from './parse-event.ts';
import { positionOf } from './position.ts';
import { type Remember, rememberInMemory } from './remember.ts';
import { Session, type SessionOptions } from './session.ts';
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
  const tasks = new KeyedTasks(settings.concurrency);
  const stopping = new AbortController();
  const ending = new AbortController();
  // One for each handler: Node 20 would warn of more than ten.
  setMaxListeners(0, stopping.signal, ending.signal);
  const callbacks = protectedCallbacks(options);
  let state: ConsumerState = 'connecting';
  let isPaused = false;

  const setState = (next: ConsumerState) => {
    if (state === next) return;
    state = next;
    callbacks.announce(next);
  };

  const handle = deliveryHandler<Transaction>({
    settings,
    remember: options.remember ?? (rememberInMemory() as Remember<unknown> as Remember<Transaction>),
    handle: options.handle as HandlerOptions<Transaction>['handle'],
    isOutage: callbacks.isOutage,
    stopping: stopping.signal,
    ending: ending.signal,
    report: callbacks.report,
    setPaused: (paused) => {
      tasks.setPaused(paused);
      isPaused = paused;
      if (state === 'consuming' || state === 'paused') setState(paused ? 'paused' : 'consuming');
    },
  });
  const sessions = runSessions({
    settings,
    stopping: stopping.signal,
    onMessage: messageReceiver({ settings, tasks, handle, callbacks }),
    onState: (next) => setState(next === 'consuming' && isPaused ? 'paused' : next),
    onLost: (error) => {
      callbacks.report(error);
      // The broker delivers these messages again.
      tasks.clear();
    },
  });

  const stopOnce = async () => {
    options.signal?.removeEventListener('abort', onAbort);
    stopping.abort();
    await sessions.current()?.cancel();
    await within(tasks.whenIdle(), settings.stopTimeout, () => undefined);
    ending.abort();
    const unfinished = tasks.size;
    await within(tasks.whenIdle(), ABORT_GRACE, () => undefined);
    tasks.clear();
    await sessions.current()?.close();
    await sessions.ended;
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

/** Calls the functions that the caller has given, whatever they throw. */
interface Callbacks {
  report(error: ConsumerError): void;
  conclude(outcome: MessageOutcome, message: { id: string | undefined; type: string | undefined }): void;
  announce(state: ConsumerState): void;
  isOutage(error: unknown): boolean;
}

function protectedCallbacks<Pattern extends TypePattern, Transaction>(
  options: ConsumeOptions<Pattern, Transaction>,
): Callbacks {
  return {
    report: (error) => protect(() => options.onError(error)),
    conclude: (outcome, { id, type }) => protect(() => options.onMessage?.(outcome, { id, type })),
    announce: (state) => protect(() => options.onState?.(state)),
    isOutage: (error) => {
      let isOutage = false;
      protect(() => (isOutage = options.isOutage?.(error) ?? false));
      return isOutage;
    },
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

/** Returns a function that schedules the handling of a message, or settles it if there is nothing to handle. */
function messageReceiver({
  settings,
  tasks,
  handle,
  callbacks: { report, conclude },
}: {
  settings: Settings;
  tasks: KeyedTasks;
  handle: (delivery: Delivery) => Promise<MessageOutcome | undefined>;
  callbacks: Callbacks;
}): SessionOptions['onMessage'] {
  const schedule = (from: Session, message: ConsumeMessage, event: TocsinEvent) => {
    // An event that is delivered again after a lost connection must wait for its first handler.
    const key = (settings.isOrdered ? positionOf(event)?.resource : undefined) ?? event.id;
    const run = async () => {
      const outcome = await handle({ session: from, message, event });
      if (outcome !== undefined) conclude(outcome, event);
    };
    tasks.add({ key, run });
  };

  return (from, message) => {
    const parsed = parseEvent(message.content, { maxBytes: settings.maxBytes });
    if (parsed.kind === 'event' && matchesAny(settings.topology.patterns, parsed.event.type)) {
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
}

/** Consumes with one session after the other until `stopping` is aborted. */
function runSessions({
  settings,
  stopping,
  onMessage,
  onState,
  onLost,
}: {
  settings: Settings;
  stopping: AbortSignal;
  onMessage: SessionOptions['onMessage'];
  onState: (state: 'connecting' | 'consuming' | 'waiting') => void;
  /** Called with the reason, before the next attempt. */
  onLost: (error: ConsumerError) => void;
}): { current(): Session | undefined; ended: Promise<void> } {
  const { open, prefetch, topology } = settings;
  let session: Session | undefined;

  /** Consumes with one session. @returns the milliseconds for which it consumed */
  const consumeOnce = async (): Promise<number> => {
    onState('connecting');
    let started: number | undefined;
    try {
      session = await Session.open({ open, topology, prefetch, signal: stopping, onMessage });
      started = performance.now();
      if (stopping.aborted) await session.close();
      else onState('consuming');
      throw await session.ended;
    } catch (error) {
      const text = started === undefined ? 'cannot consume the queue' : 'no longer consuming the queue';
      if (!stopping.aborted) {
        onState('waiting');
        onLost(new ConsumerError('connection', `${text}; trying again`, { cause: error }));
        await session?.close();
      }
    }
    return started === undefined ? 0 : performance.now() - started;
  };

  const run = async () => {
    for (let failures = 0; !stopping.aborted; failures += 1) {
      if ((await consumeOnce()) > STABLE) failures = 0;
      await pause(reconnectDelay(failures), stopping);
    }
  };
  return { current: () => session, ended: run() };
}
