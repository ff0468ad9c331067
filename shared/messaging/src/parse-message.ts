import { type Envelope, envelope, eventData, type EventType } from '@tocsin/schemas';
import { boundedCache } from '@tocsin/runtime';

export class InvalidMessage extends Error {}

/** The type of a newer release or of another system. Consumers ignore such messages, as others are asked to. */
export class UnknownType extends Error {}

export interface ParsedMessage {
  event: Envelope;
  type: EventType;
}

/** Bytes of the messages that were parsed last: another queue of the process may be about to get them as well. */
const CACHE_BYTES = 4 * 1_048_576;
/** A parsed message takes more memory than its text. */
const PARSED_FACTOR = 5;
const parsed = boundedCache<string, ParsedMessage>({
  bytes: CACHE_BYTES,
  sizeOf: (_message, body) => PARSED_FACTOR * body.length,
});

/**
 * Several queues may share the result: it must not be changed.
 * @throws InvalidMessage for a body that is not an event, and UnknownType for an event of an unknown type
 */
export function parseMessage(body: string): ParsedMessage {
  const keptMessage = parsed.get(body);
  if (keptMessage !== undefined) return keptMessage;
  const message = parse(body);
  parsed.set(body, message);
  return message;
}

function parse(body: string): ParsedMessage {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new InvalidMessage('not a JSON document');
  }
  const outer = envelope.safeParse(json);
  if (!outer.success) throw new InvalidMessage(describe(outer.error.issues));
  const { type } = outer.data;
  if (!isEventType(type)) throw new UnknownType(`unknown type ${type}`);
  const data = eventData[type].safeParse(outer.data.data);
  if (!data.success) throw new InvalidMessage(describe(data.error.issues));
  return { event: { ...outer.data, data: data.data }, type };
}

export const isEventType = (type: string): type is EventType => Object.hasOwn(eventData, type);

/** Lists paths and codes, never values: a malformed message may contain secrets. */
const describe = (issues: readonly { path: PropertyKey[]; code: string }[]) =>
  issues.map(({ path, code }) => `${path.map(String).join('.')}: ${code}`).join('; ');
