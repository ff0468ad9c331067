import type { ParsedEntries, SourceEntry } from './entry.ts';

/** Parses `{ "events": [{ "at", "title"?, "body", "type"?, "tags"? }] }`; ignores other properties. */
export function parseJson(text: string): ParsedEntries {
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
