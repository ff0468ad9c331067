import type { ConsumeMessage } from 'amqplib';
import { nth, pause } from './backoff.ts';
import { ConsumerError, HandlerGivenUp } from './errors.ts';
import type { TocsinEvent } from './event-types.ts';
import type { HandleContext, Settings } from './options.ts';
import { positionOf } from './position.ts';
import type { Outcome, Remember } from './remember.ts';
import type { Session } from './session.ts';

/** Milliseconds between attempts during an outage, by the number of attempts; the last value repeats. */
const OUTAGE_DELAYS = [1_000, 2_000, 5_000, 10_000, 30_000];

export interface HandlerOptions<Transaction> {
  settings: Settings;
  remember: Remember<Transaction>;
  handle: (event: TocsinEvent, context: HandleContext<Transaction>) => Promise<void> | void;
  isOutage: (error: unknown) => boolean;
  /** The consumer takes no more messages; waits end. */
  stopping: AbortSignal;
  /** Handlers have no more time. */
  ending: AbortSignal;
  report: (error: ConsumerError) => void;
  setPaused: (paused: boolean) => void;
}

/** One delivery of an event. */
export interface Delivery {
  session: Session;
  message: ConsumeMessage;
  event: TocsinEvent;
}

/**
 * Returns a function that handles a delivery and acknowledges its message. Never rejects.
 * @returns what became of it; undefined if the message returns to the queue without a failure
 */
export function deliveryHandler<Transaction>(options: HandlerOptions<Transaction>) {
  const { settings, remember, isOutage, stopping, report, setPaused } = options;

  const attempt = async ({ event, message }: Delivery): Promise<Outcome> => {
    const { id, type } = event;
    const position = settings.isOrdered ? positionOf(event) : undefined;
    const { resource, revision } = position ?? { resource: undefined, revision: undefined };
    return remember.once({ id, type, resource, revision }, async (transaction) =>
      handleInTime(options, event, { transaction, failures: failuresOf(message) }),
    );
  };

  const retry = ({ session, message, event }: Delivery, error: unknown) => {
    const failures = failuresOf(message);
    const isFinal = failures + 1 >= settings.topology.deliveryLimit;
    const text = isFinal ? 'the event is now a dead letter' : 'the event will be delivered again';
    report(new ConsumerError('handler_failed', `cannot handle an event; ${text}`, { cause: error, event, isFinal }));
    // No delay after the last failure: the broker moves the message to the dead letters.
    session.retry(message, isFinal ? 0 : nth(settings.retryDelays, failures));
  };

  return async (delivery: Delivery): Promise<Outcome | 'handler_failed' | undefined> => {
    const { session, message, event } = delivery;
    for (let outages = 0; session.isOpen; outages += 1) {
      try {
        const outcome = await attempt(delivery);
        setPaused(false);
        session.ack(message);
        return outcome;
      } catch (error) {
        // The time was cut short, so the event is not to blame: the broker delivers it again.
        if (options.ending.aborted) return undefined;
        if (!isOutage(error)) {
          setPaused(false);
          retry(delivery, error);
          return 'handler_failed';
        }
        if (outages === 0) {
          report(new ConsumerError('outage', 'cannot handle events now; pausing', { cause: error, event }));
        }
        setPaused(true);
        // The message stays unacknowledged, so the outage counts against no delivery limit.
        await pause(nth(OUTAGE_DELAYS, outages), stopping);
        if (stopping.aborted) return undefined;
      }
    }
    return undefined;
  };
}

/**
 * Calls the handler with a signal that is aborted when its time is over.
 * @throws HandlerGivenUp when the handler has not ended some time after that
 */
async function handleInTime<Transaction>(
  { settings, handle, ending, report }: HandlerOptions<Transaction>,
  event: TocsinEvent,
  context: Omit<HandleContext<Transaction>, 'signal'>,
): Promise<void> {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error('the consumer stops'));
  const { handleTimeout, giveUpTimeout } = settings;
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      report(new ConsumerError('handler_late', `handle has not ended within ${handleTimeout} ms`, { event }));
      controller.abort(new Error('the time to handle the event is over'));
      const giveUp = () =>
        reject(new HandlerGivenUp(`handle has not ended within ${giveUpTimeout} ms after its abort`));
      timer = setTimeout(giveUp, giveUpTimeout);
    }, handleTimeout);
  });
  ending.addEventListener('abort', abort);
  try {
    if (ending.aborted) abort();
    await Promise.race([handle(event, { ...context, signal: controller.signal }), givenUp]);
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', abort);
  }
}

/** The number of failed deliveries, as counted by the quorum queue. */
const failuresOf = ({ properties }: ConsumeMessage): number => {
  const count: unknown = properties.headers?.['x-delivery-count'];
  return typeof count === 'number' && count > 0 ? count : 0;
};
