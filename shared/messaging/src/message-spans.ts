import {
  contextOfStored,
  markFailed,
  recordedSpan,
  runInContext,
  type SpanSpec,
  startSpanIn,
  storableTrace,
} from '@tocsin/runtime';
import type { Disposition, OutgoingMessage, PublishOutcome } from './broker.ts';

/** Where a message is sent to, or comes from. */
export interface MessagePlace {
  /** `rabbitmq`, or `tocsin` for the broker in this process. */
  system: string;
  exchange: string;
  routingKey: string;
  /** The queue of a consumer. */
  queue?: string;
}

/**
 * Publishes a message in a span of the trace that its outbox row names, and continues that trace in the message. A
 * message without a trace, such as one of an earlier release, begins none.
 */
export async function publishInSpan(
  place: MessagePlace,
  message: OutgoingMessage,
  publish: (trace: string | null) => Promise<PublishOutcome>,
): Promise<PublishOutcome> {
  const parent = contextOfStored(message.trace);
  if (parent === undefined) return publish(null);
  const context = startSpanIn(parent, publishSpan(place, message));
  const span = recordedSpan(context);
  const outcome = await publish(storableTrace(context));
  if (span !== undefined && outcome === 'failed') markFailed(span, outcome);
  span?.end();
  return outcome;
}

/**
 * Handles a message in a span of its trace.
 * @param handle gets the trace to store with what the message causes
 */
export async function processInSpan(
  place: MessagePlace & { queue: string },
  { id, body, trace }: { id: string | undefined; body: Buffer; trace: string | null },
  handle: (trace: string | null) => Promise<Disposition>,
): Promise<Disposition> {
  const parent = contextOfStored(trace);
  if (parent === undefined) return handle(null);
  const context = startSpanIn(parent, processSpan(place, id, body));
  const span = recordedSpan(context);
  const disposition = await runInContext(context, async () => handle(storableTrace(context)));
  if (span !== undefined && disposition !== 'ack') markFailed(span, disposition);
  span?.end();
  return disposition;
}

const publishSpan = (place: MessagePlace, { id, body }: OutgoingMessage): SpanSpec => ({
  name: `publish ${place.exchange}:${place.routingKey}`,
  kind: 'producer',
  attributes: () => ({
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
    'messaging.destination.name': `${place.exchange}:${place.routingKey}`,
    'messaging.message.body.size': Buffer.byteLength(body),
    ...common(place, id),
  }),
});

const processSpan = (place: MessagePlace & { queue: string }, id: string | undefined, body: Buffer): SpanSpec => ({
  name: `process ${place.queue}`,
  kind: 'consumer',
  attributes: () => ({
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': `${place.exchange}:${place.routingKey}:${place.queue}`,
    'messaging.message.body.size': body.length,
    ...common(place, id),
  }),
});

const common = ({ system, routingKey }: MessagePlace, id: string | undefined) => ({
  'messaging.system.name': system,
  'rabbitmq.destination.routing_key': routingKey,
  ...(id !== undefined && { 'messaging.message.id': id }),
});
