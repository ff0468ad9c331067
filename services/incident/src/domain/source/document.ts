import { csvEntries } from './csv.ts';
import { judgeEntry, type SourceEntries, type SourceEvent } from './entry.ts';
import { jsonEntries } from './json.ts';
import { markdownEntries } from './markdown.ts';

/** Of a document's events, so many count. */
const MOST_EVENTS = 500;

/** What a document says (contract: Timeline imports). `reason` is a sentence for people. */
export type SourceReading =
  /** At least one event; `reason` where not all of them were taken. */
  | { status: 'imported'; events: readonly SourceEvent[]; reason?: string }
  | { status: 'invalid' | 'unsupported'; reason: string };

export const SOURCE_IMPORT_STATUSES = ['imported', 'failed', 'unavailable', 'invalid', 'unsupported'] as const;

/** What became of an import, as the answer tells it. */
export interface SourceImport {
  status: (typeof SOURCE_IMPORT_STATUSES)[number];
  /** Of an import that succeeded; at least 1. */
  eventCount?: number;
  /** A sentence for people. */
  reason?: string;
}

const FORMATS: ReadonlyMap<string, (text: string) => SourceEntries> = new Map([
  ['application/json', jsonEntries],
  ['text/csv', csvEntries],
  ['text/markdown', markdownEntries],
  ['text/x-markdown', markdownEntries],
]);

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @param contentType as the header says it; its parameters are not looked at */
export function readSourceDocument(contentType: string | undefined, bytes: Uint8Array): SourceReading {
  const entriesOf = FORMATS.get(contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  if (entriesOf === undefined) {
    return { status: 'unsupported', reason: 'The document is neither JSON, CSV nor Markdown by its content type' };
  }
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { status: 'invalid', reason: 'The document is not UTF-8 text' };
  }
  if (text.trim() === '') return { status: 'invalid', reason: 'The document is empty' };
  const said = entriesOf(text);
  return 'reason' in said ? { status: 'invalid', reason: said.reason } : choose(said.entries);
}

/** The first valid events, and what to tell of the others. */
function choose(entries: Extract<SourceEntries, { entries: unknown }>['entries']): SourceReading {
  const events: SourceEvent[] = [];
  let skipped = 0;
  let firstFault = '';
  for (const [index, entry] of entries.entries()) {
    const judged = judgeEntry(entry);
    if (typeof judged === 'string') {
      skipped += 1;
      if (skipped === 1) firstFault = `number ${index + 1}: ${judged}`;
    } else if (events.length < MOST_EVENTS) {
      events.push(judged);
    } else {
      return { status: 'imported', events, reason: `Only the first ${MOST_EVENTS} events were taken` };
    }
  }
  if (events.length === 0) {
    return { status: 'invalid', reason: `None of the document's events (${skipped}) is valid; ${firstFault}` };
  }
  if (skipped === 0) return { status: 'imported', events };
  return { status: 'imported', events, reason: `Not all events are valid, ${skipped} were skipped; ${firstFault}` };
}
