import type { Envelope, EventType, TocsinEvent } from './event-types.ts';
import { dataValidators, validateEnvelope } from './generated/validators.ts';

/** The `schema_version` that this package understands. */
export const SCHEMA_VERSION = 1;
/** The bytes of the largest message that is read by default. A request to Tocsin has at most a quarter of that. */
export const MAX_EVENT_BYTES = 4_194_304;
/** An ID or type of a message that is not valid is reported only up to this length. */
const MAX_REPORTED = 255;
const MAX_DETAIL = 500;

/** Why a message is broken: it exceeds the limit, is not JSON in UTF-8, has no valid envelope, or data of another form. */
export type BrokenReason = 'too_large' | 'not_json' | 'invalid_envelope' | 'invalid_data';

/**
 * `event`: a valid event of a known type. `unknown_type`: a valid envelope with a type that this version does not know:
 * ignore it. `newer_version`: a `schema_version` that this version cannot read: keep the message until an update can.
 * `broken`: nothing will ever be able to read it; `detail` names members, never their values.
 */
export type ParsedEvent =
  | { kind: 'event'; event: TocsinEvent }
  | { kind: 'unknown_type'; event: Envelope }
  | { kind: 'newer_version'; schemaVersion: number; id: string | undefined; type: string | undefined }
  | { kind: 'broken'; reason: BrokenReason; detail: string; id: string | undefined; type: string | undefined };

/** The validators that Ajv has compiled. */
interface Validate {
  (value: unknown): boolean;
  errors?: readonly { instancePath: string; keyword: string; params: Record<string, unknown> }[] | null;
}

const checkEnvelope = validateEnvelope as Validate;
const checkData = dataValidators as Readonly<Record<EventType, Validate>>;

/**
 * Reads the content of a message. Never throws. Unknown members are valid everywhere and stay in the result.
 * @param options.maxBytes a larger message is broken and is not read; default `MAX_EVENT_BYTES`
 */
export function parseEvent(bytes: Uint8Array, options: { maxBytes?: number } = {}): ParsedEvent {
  const { maxBytes = MAX_EVENT_BYTES } = options;
  if (bytes.byteLength > maxBytes) {
    return broken('too_large', `${bytes.byteLength} bytes, and at most ${maxBytes} are read`);
  }
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return broken('not_json', 'not a JSON document in UTF-8');
  }
  const { schema_version: schemaVersion, id, type } = readMembers(message);
  const identity = { id: reportedText(id), type: reportedText(type) };
  if (Number.isSafeInteger(schemaVersion) && (schemaVersion as number) > SCHEMA_VERSION) {
    return { kind: 'newer_version', schemaVersion: schemaVersion as number, ...identity };
  }
  if (!checkEnvelope(message)) return broken('invalid_envelope', describe(checkEnvelope, ''), identity);
  const envelope = message as Envelope;
  if (!isEventType(envelope.type)) return { kind: 'unknown_type', event: envelope };
  const check = checkData[envelope.type];
  if (!check(envelope.data)) return broken('invalid_data', describe(check, 'data'), identity);
  return { kind: 'event', event: envelope as TocsinEvent };
}

/** Whether this version knows the type. */
export const isEventType = (type: string): type is EventType => Object.hasOwn(dataValidators, type);

const readMembers = (message: unknown): Record<string, unknown> =>
  typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : {};

const reportedText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= MAX_REPORTED ? value : undefined;

const broken = (
  reason: BrokenReason,
  detail: string,
  identity: { id: string | undefined; type: string | undefined } = { id: undefined, type: undefined },
): ParsedEvent => ({ kind: 'broken', reason, detail, ...identity });

/** Names the member and the rule, never the value: a message may contain secrets. */
function describe({ errors }: Validate, prefix: string): string {
  const [error] = errors ?? [];
  if (error === undefined) return 'not valid';
  const { instancePath, keyword, params } = error;
  const missing = typeof params['missingProperty'] === 'string' ? [params['missingProperty']] : [];
  const path = [prefix, ...instancePath.split('/'), ...missing].filter((step) => step !== '').join('.');
  return `${path === '' ? 'the document' : path}: ${keyword}`.slice(0, MAX_DETAIL);
}
