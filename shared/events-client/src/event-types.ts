import type { EnvelopeMembers, EventData } from './generated/event-data.ts';

export type EventType = keyof EventData;

/** The format of every event. `data` depends on the type. */
export type Envelope<Type extends string = string, Data = unknown> = EnvelopeMembers & { type: Type; data: Data };

/** An event of one of the types; checking `type` decides the type of `data`. */
export type TocsinEvent<Type extends EventType = EventType> = {
  [Each in Type]: Envelope<Each, EventData[Each]>;
}[Type];

/** The incident as events contain it. */
export type Incident = EventData['incident.created']['incident'];
export type Service = EventData['service.changed']['service'];
export type Team = EventData['team.changed']['team'];
export type User = EventData['user.changed']['user'];
export type CustomField = EventData['custom-field.changed']['field'];

/** Stands for a value of `changes` with more than 4,096 bytes of JSON. */
export interface LargeValue {
  /** SHA-256 of the value as canonical JSON (RFC 8785), as `sha256:` and 64 hexadecimal digits. */
  digest: string;
  /** The length of that JSON in UTF-8. */
  bytes: number;
}

/** Whether `from` or `to` of a change is the digest of a value that is too large for an event. */
export function isLargeValue(value: unknown): value is LargeValue {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false;
  const { digest, bytes } = value as Partial<Record<keyof LargeValue, unknown>>;
  return typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest) && Number.isSafeInteger(bytes);
}
