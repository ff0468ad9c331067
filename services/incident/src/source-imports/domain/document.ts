import { parseCsv } from './csv.ts';
import { validateEntry, type ParsedEntries, type SourceEvent } from './entry.ts';
import { parseJson } from './json.ts';
import { parseMarkdown } from './markdown.ts';

/** The first valid events of a document that are imported. */
const MAX_EVENTS = 500;

/** A parsed document (contract: Timeline imports). `reason` is a sentence for users. */
export type SourceDocument =
  /** At least one event; `reason` if some events were not imported. */
  | { status: 'imported'; events: readonly SourceEvent[]; reason?: string }
  | { status: 'invalid' | 'unsupported'; reason: string };

export const SOURCE_IMPORT_STATUSES = ['imported', 'failed', 'unavailable', 'invalid', 'unsupported'] as const;

/** The result of an import, as the response contains it. */
export interface SourceImport {
  status: (typeof SOURCE_IMPORT_STATUSES)[number];
  /** Only for status `imported`; at least 1. */
  eventCount?: number;
  /** A sentence for users. */
  reason?: string;
}

const PARSERS: ReadonlyMap<string, (text: string) => ParsedEntries> = new Map([
  ['application/json', parseJson],
  ['text/csv', parseCsv],
  ['text/markdown', parseMarkdown],
  ['text/x-markdown', parseMarkdown],
]);

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @param contentType the header's value; its parameters are ignored */
export function parseSourceDocument(contentType: string | undefined, bytes: Uint8Array): SourceDocument {
  const entriesOf = PARSERS.get(contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  if (entriesOf === undefined) {
    return { status: 'unsupported', reason: 'The content type of the document is not JSON, CSV or Markdown' };
  }
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { status: 'invalid', reason: 'The document is not UTF-8 text' };
  }
  if (text.trim() === '') return { status: 'invalid', reason: 'The document is empty' };
  const parsed = entriesOf(text);
  return 'reason' in parsed ? { status: 'invalid', reason: parsed.reason } : collectEvents(parsed.entries);
}

/** Returns the first valid events, and a reason if there are others. */
function collectEvents(entries: Extract<ParsedEntries, { entries: unknown }>['entries']): SourceDocument {
  const events: SourceEvent[] = [];
  let skipped = 0;
  let firstViolation = '';
  for (const [index, entry] of entries.entries()) {
    const event = validateEntry(entry);
    if (typeof event === 'string') {
      skipped += 1;
      if (skipped === 1) firstViolation = `number ${index + 1}: ${event}`;
    } else if (events.length < MAX_EVENTS) {
      events.push(event);
    } else {
      return { status: 'imported', events, reason: `Only the first ${MAX_EVENTS} events were imported` };
    }
  }
  if (events.length === 0) {
    return { status: 'invalid', reason: `The document has no valid event (${skipped} invalid); ${firstViolation}` };
  }
  if (skipped === 0) return { status: 'imported', events };
  return { status: 'imported', events, reason: `${skipped} invalid events were skipped; ${firstViolation}` };
}
