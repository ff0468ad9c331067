import { type Envelope, envelope, eventData, type EventType } from '@tocsin/contracts';

export class InvalidMessage extends Error {}

/** @throws InvalidMessage for a body that is not an event of a known type */
export function parseMessage(body: Buffer): { event: Envelope; type: EventType } {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    throw new InvalidMessage('not a JSON document');
  }
  const outer = envelope.safeParse(json);
  if (!outer.success) throw new InvalidMessage(describe(outer.error.issues));
  const { type } = outer.data;
  if (!isEventType(type)) throw new InvalidMessage(`unknown type ${type}`);
  const data = eventData[type].safeParse(outer.data.data);
  if (!data.success) throw new InvalidMessage(describe(data.error.issues));
  return { event: { ...outer.data, data: data.data }, type };
}

const isEventType = (type: string): type is EventType => Object.hasOwn(eventData, type);

/** Lists paths and codes, never values: a malformed message may contain secrets. */
const describe = (issues: readonly { path: PropertyKey[]; code: string }[]) =>
  issues.map(({ path, code }) => `${path.map(String).join('.')}: ${code}`).join('; ');
