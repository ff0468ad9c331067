import { normaliseList } from '@tocsin/http';
import { parseTimestamp } from '@tocsin/contracts';
import { isReservedType, TIMELINE_LIMITS, type TimelineEventProperties } from '../../timeline/domain/timeline-event.ts';

/** An event of a document before validation. `undefined` and `null` mean missing. */
export interface SourceEntry {
  at?: unknown;
  title?: unknown;
  body?: unknown;
  type?: unknown;
  tags?: unknown;
  /** Why the parser rejected it, as a clause like "it has no body". */
  violation?: string;
}

/** The events of a document before validation, or a sentence for users why it has none. */
export type ParsedEntries = { entries: readonly SourceEntry[] } | { reason: string };

/** A valid event. */
export type SourceEvent = Pick<TimelineEventProperties, 'startedAt' | 'title' | 'body' | 'type' | 'tags'>;

/** The type of an event with no type or a reserved one. */
const DEFAULT_TYPE = 'import';

/**
 * Validates an event of a document by the rules of the API (contract: Timeline imports).
 * @returns the event, or the violated rule as a clause like "it has no body"
 */
export function validateEntry({
  at,
  title,
  body,
  type,
  tags,
  violation: parserViolation,
}: SourceEntry): SourceEvent | string {
  if (parserViolation !== undefined) return parserViolation;
  const startedAt = typeof at === 'string' ? parseTimestamp(at) : undefined;
  if (startedAt === undefined) return 'its time is not an RFC 3339 timestamp with a time zone';
  const violation =
    findTextViolation('its body', body, TIMELINE_LIMITS.body) ??
    findTextViolation('its title', title, TIMELINE_LIMITS.title) ??
    findTextViolation('its type', type, TIMELINE_LIMITS.type) ??
    findTagsViolation(tags);
  if (violation !== undefined) return violation;
  const text = (value: unknown) => (value ?? '') as string;
  if (text(body).trim() === '') return 'it has no body';
  const givenType = text(type).trim();
  return {
    startedAt,
    title: text(title).trim(),
    body: text(body),
    type: givenType === '' || isReservedType(givenType) ? DEFAULT_TYPE : givenType,
    tags: normaliseList((tags ?? []) as string[]),
  };
}

/** Replaces the space between date and time by a T. */
export const normaliseTimeSeparator = (time: string) => time.replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, '$1T');

function findTextViolation(name: string, value: unknown, max: number): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return `${name} is not text`;
  if (value.includes('\0') || !value.isWellFormed()) return `${name} contains characters that cannot be stored`;
  return isLonger(value, max) ? `${name} is longer than ${max} characters` : undefined;
}

function findTagsViolation(tags: unknown): string | undefined {
  if (tags === undefined || tags === null) return undefined;
  if (!Array.isArray(tags)) return 'its tags are not a list';
  for (const tag of tags as unknown[]) {
    if (typeof tag !== 'string') return 'its tags are not all text';
    const violation = findTextViolation('one of its tags', tag.trim(), TIMELINE_LIMITS.tag);
    if (violation !== undefined) return violation;
  }
  return normaliseList(tags as string[]).length > TIMELINE_LIMITS.tags
    ? `it has more than ${TIMELINE_LIMITS.tags} tags`
    : undefined;
}

/** Counts code points only if the number of code units does not decide. */
const isLonger = (text: string, most: number) =>
  text.length > most && (text.length > 2 * most || [...text].length > most);
