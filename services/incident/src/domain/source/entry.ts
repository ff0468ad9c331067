import { normaliseList } from '@tocsin/http';
import { parseTimestamp } from '@tocsin/contracts';
import { isReservedType, TIMELINE_LIMITS, type TimelineEventProperties } from '../timeline-event.ts';

/** An event as a document tells it: at each place whatever stands there. `undefined` and `null` are nothing said. */
export interface SourceEntry {
  at?: unknown;
  title?: unknown;
  body?: unknown;
  type?: unknown;
  tags?: unknown;
  /** What keeps it from being an event at all, in the words of "it has no body". */
  fault?: string;
}

/** What a document of one format says, before its events are judged; or, for people, why it says nothing. */
export type SourceEntries = { entries: readonly SourceEntry[] } | { reason: string };

/** An event that can become one of a timeline. */
export type SourceEvent = Pick<TimelineEventProperties, 'startedAt' | 'title' | 'body' | 'type' | 'tags'>;

/** The type of an event that names none, or one that only the service gives. */
const IMPORTED = 'import';

/**
 * Judges an event of a document as a request for a timeline event would be judged (contract: Timeline imports).
 * @returns the event, or what is wrong with it, in the words of "it has no body"
 */
export function judgeEntry({ at, title, body, type, tags, fault: broken }: SourceEntry): SourceEvent | string {
  if (broken !== undefined) return broken;
  const startedAt = typeof at === 'string' ? parseTimestamp(at) : undefined;
  if (startedAt === undefined) return 'its time is not an RFC 3339 timestamp with a time zone';
  const fault =
    textFault('its body', body, TIMELINE_LIMITS.body) ??
    textFault('its title', title, TIMELINE_LIMITS.title) ??
    textFault('its type', type, TIMELINE_LIMITS.type) ??
    tagsFault(tags);
  if (fault !== undefined) return fault;
  const text = (value: unknown) => (value ?? '') as string;
  if (text(body).trim() === '') return 'it has no body';
  const named = text(type).trim();
  return {
    startedAt,
    title: text(title).trim(),
    body: text(body),
    type: named === '' || isReservedType(named) ? IMPORTED : named,
    tags: normaliseList((tags ?? []) as string[]),
  };
}

/** A time as people write it in tables and lists: with a space for the T. */
export const withT = (time: string) => time.replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, '$1T');

function textFault(name: string, value: unknown, most: number): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return `${name} is not text`;
  if (value.includes('\0') || !value.isWellFormed()) return `${name} holds characters that cannot be kept`;
  return isLonger(value, most) ? `${name} is longer than ${most} characters` : undefined;
}

function tagsFault(tags: unknown): string | undefined {
  if (tags === undefined || tags === null) return undefined;
  if (!Array.isArray(tags)) return 'its tags are not a list';
  for (const tag of tags as unknown[]) {
    if (typeof tag !== 'string') return 'its tags are not all text';
    const fault = textFault('one of its tags', tag.trim(), TIMELINE_LIMITS.tag);
    if (fault !== undefined) return fault;
  }
  return normaliseList(tags as string[]).length > TIMELINE_LIMITS.tags
    ? `it has more than ${TIMELINE_LIMITS.tags} tags`
    : undefined;
}

/** Counted in code points, and not at all where the units decide it. */
const isLonger = (text: string, most: number) =>
  text.length > most && (text.length > 2 * most || [...text].length > most);
