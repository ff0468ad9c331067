import { parseCsv } from './csv.ts';
import { type AssumedZone, validateEntry, type ParsedEntries, type SourceEvent, type SourceEntry } from './entry.ts';
import { parseMarkdown } from './markdown.ts';

/** The first valid events of a document that are imported. */
const MAX_EVENTS = 500;
/** Of a document, in the result. */
export const MAX_SKIPPED = 20;
export const MAX_ZONES = 10;

/** What a result says about the document and its entries. */
interface ReadEntries {
  /** Of the document; not set if it was not fetched. */
  fetchedBytes?: number;
  /** How many entries were left out because they are not valid. */
  skippedCount?: number;
  /** The first of them: the line, or in JSON the place in the list. */
  skipped?: readonly { number: number; reason: string }[];
  /** The zones that imported times without one got. */
  timeZones?: readonly AssumedZone[];
}

/** A parsed document (contract: Timeline imports). `reason` is a sentence for users. */
export type SourceDocument = ReadEntries &
  (
    | /** At least one event; `reason` if some events were not imported, or may be wrong. */
      { status: 'imported'; events: readonly SourceEvent[]; reason?: string }
    | { status: 'invalid' | 'unsupported'; reason: string }
  );

export const SOURCE_IMPORT_STATUSES = ['imported', 'failed', 'unavailable', 'invalid', 'unsupported'] as const;

/** The result of an import, as the response contains it. */
export interface SourceImport extends ReadEntries {
  status: (typeof SOURCE_IMPORT_STATUSES)[number];
  /** Only for status `imported`; at least 1. */
  eventCount?: number;
  /** A sentence for users. */
  reason?: string;
}

/** A document as it was received. */
export interface ReceivedDocument {
  /** The header's value; its parameters are ignored. */
  contentType: string | undefined;
  body: Uint8Array;
  /** Of its URL. */
  path: string;
  /** Of the workspace. */
  timeZone: string;
}

type Parse = (text: string) => ParsedEntries;
const PARSERS: ReadonlyMap<string, Parse> = new Map([
  ['application/json', parseJson],
  ['text/csv', parseCsv],
  ['application/csv', parseCsv],
  ['text/tab-separated-values', parseCsv],
  ['text/markdown', parseMarkdown],
  ['text/x-markdown', parseMarkdown],
  ['text/plain', parseMarkdown],
]);
/** Raw addresses of repositories call every text `text/plain`. */
const PLAIN_PARSERS: ReadonlyMap<string, Parse> = new Map([
  ['json', parseJson],
  ['csv', parseCsv],
  ['tsv', parseCsv],
]);

export function parseSourceDocument({ contentType, body, path, timeZone }: ReceivedDocument): SourceDocument {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const ending = type === 'text/plain' ? (/\.(\w{1,10})$/.exec(path)?.[1] ?? '').toLowerCase() : '';
  const entriesOf = PLAIN_PARSERS.get(ending) ?? PARSERS.get(type);
  if (entriesOf === undefined) {
    return {
      status: 'unsupported',
      reason: 'The content type of the document is not JSON, CSV, Markdown or plain text',
    };
  }
  const text = decode(body);
  if (text === undefined) return { status: 'invalid', reason: 'The document is not UTF-8 text' };
  if (text.trim() === '') return { status: 'invalid', reason: 'The document is empty' };
  const parsed = entriesOf(text);
  return 'reason' in parsed
    ? { status: 'invalid', reason: parsed.reason }
    : collectEvents(parsed.entries, { timeZone, place: entriesOf === parseJson ? 'number' : 'line' });
}

/** Decodes UTF-8, or UTF-16 behind a byte order mark. */
function decode(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  const is16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const encoding = is16 ? (first === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the first valid events, and why there are no others. */
function collectEvents(
  entries: Extract<ParsedEntries, { entries: unknown }>['entries'],
  { timeZone, place }: { timeZone: string; place: 'line' | 'number' },
): SourceDocument {
  const events: SourceEvent[] = [];
  const skipped: { number: number; reason: string }[] = [];
  const earlier: number[] = [];
  const dateLines: number[] = [];
  const zones = new Map<string, AssumedZone>();
  let valid = 0;
  for (const [index, entry] of entries.entries()) {
    const { number = index + 1 } = entry;
    const validated = validateEntry(entry, timeZone);
    if ('violation' in validated) skipped.push({ number, reason: validated.violation });
    else {
      valid += 1;
      if (valid > MAX_EVENTS) break;
      events.push(validated.event);
      if (entry.isEarlier === true) earlier.push(number);
      if (entry.dateLine !== undefined) dateLines.push(entry.dateLine);
      const { assumed } = validated;
      if (assumed !== undefined) zones.set(`${assumed.source} ${assumed.timeZone}`, assumed);
    }
  }
  skipped.sort((a, b) => a.number - b.number);
  const [first] = skipped;
  const firstViolation = first && `${place} ${first.number}: ${first.reason}`;
  const read: ReadEntries = {
    ...(first && { skippedCount: skipped.length, skipped: skipped.slice(0, MAX_SKIPPED) }),
    ...(zones.size > 0 && { timeZones: [...zones.values()].slice(0, MAX_ZONES) }),
  };
  if (events.length === 0) {
    const reason = `The document has no valid event (${skipped.length} invalid); ${firstViolation ?? ''}`;
    return { status: 'invalid', reason, ...read };
  }
  const reasons = [
    ...(valid > MAX_EVENTS ? [`Only the first ${MAX_EVENTS} events were imported`] : []),
    ...(firstViolation === undefined ? [] : [`${skipped.length} invalid events were skipped; ${firstViolation}`]),
    ...(earlier.length > 0
      ? [
          `${earlier.length} events are earlier than the one before them below the same date, the first of them at ${place} ${earlier[0]}: they may be of another day`,
        ]
      : []),
    ...(dateLines.length > 0
      ? [`${dateLines.length} events have the date of ${place} ${[...new Set(dateLines)].slice(0, 3).join(', ')}`]
      : []),
  ];
  return { status: 'imported', events, ...(reasons.length > 0 && { reason: reasons.join('; ') }), ...read };
}

/** Parses `{ "events": [{ "at", "title"?, "body", "type"?, "tags"? }] }`; ignores other properties. */
function parseJson(text: string): ParsedEntries {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { reason: 'The document is not valid JSON' };
  }
  const events = isObject(document) ? document['events'] : undefined;
  if (!Array.isArray(events)) return { reason: 'The JSON document has no list named events' };
  if (events.length === 0) return { reason: 'The list of events is empty' };
  return { entries: events.map(entryOf) };
}

const entryOf = (event: unknown): SourceEntry =>
  isObject(event)
    ? { at: event['at'], title: event['title'], body: event['body'], type: event['type'], tags: event['tags'] }
    : { violation: 'it is not a JSON object' };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
