import { normaliseList } from '@tocsin/http';
import { isBlank, parseTimestamp } from '@tocsin/schemas';
import { momentsOf } from '@tocsin/runtime';
import { isReservedType, TIMELINE_LIMITS, type TimelineEventProperties } from '../../timeline/domain/timeline-event.ts';
import type { Violation, WrittenDate, WrittenTime, Zone } from './written-time.ts';

/** A time without a zone of its own has that of the document; without one, that of the workspace. */
interface LocalTime {
  date: string;
  /** Milliseconds since local midnight. */
  clock: number;
  zone: { name: string; source: 'entry' | 'document' } | undefined;
}

/** An event of a document before validation. `undefined` and `null` mean missing. */
export interface SourceEntry {
  /** The line of the document, or in JSON the place in the list, from 1. */
  number?: number;
  /** An RFC 3339 timestamp. */
  at?: unknown;
  /** Any other time. */
  time?: LocalTime;
  /** Whether its time is earlier than that of the entry before it below the same date. */
  isEarlier?: boolean;
  /** The line of its date, if that may mean something else. */
  dateLine?: number;
  title?: unknown;
  body?: unknown;
  type?: unknown;
  tags?: unknown;
  /** Why the parser rejected it, as a clause like "it has no body". */
  violation?: string;
}

/** The time of an entry, or why it has none. */
export type ParsedTime = { at: string } | { time: LocalTime } | Violation;

/** The events of a document before validation, or a sentence for users why it has none. */
export type ParsedEntries = { entries: readonly SourceEntry[] } | { reason: string };

/** A valid event. */
export type SourceEvent = Pick<TimelineEventProperties, 'startedAt' | 'title' | 'body' | 'type' | 'tags'>;

/** A zone that a document or the workspace has given to times without one. */
export interface AssumedZone {
  timeZone: string;
  source: 'document' | 'workspace';
}

/** The type of an event with no type or a reserved one. */
const DEFAULT_TYPE = 'import';

/**
 * Validates an event of a document by the rules of the API (contract: Timeline imports).
 * @param timeZone the workspace's
 * @returns the event, or the violated rule as a clause like "it has no body"
 */
export function validateEntry(
  { at, time, title, body, type, tags, violation: parserViolation }: SourceEntry,
  timeZone: string,
): { event: SourceEvent; assumed?: AssumedZone } | Violation {
  if (parserViolation !== undefined) return { violation: parserViolation };
  const moment = time === undefined ? readAt(at) : momentOf(time, timeZone);
  if ('violation' in moment) return moment;
  const violation =
    findTextViolation('its body', body, TIMELINE_LIMITS.body) ??
    findTextViolation('its title', title, TIMELINE_LIMITS.title) ??
    findTextViolation('its type', type, TIMELINE_LIMITS.type) ??
    findTagsViolation(tags);
  if (violation !== undefined) return { violation };
  const text = (value: unknown) => (value ?? '') as string;
  if (isBlank(text(body))) return { violation: 'it has no body' };
  const givenType = text(type).trim();
  const event = {
    startedAt: moment.startedAt,
    title: text(title).trim(),
    body: text(body),
    type: isBlank(givenType) || isReservedType(givenType) ? DEFAULT_TYPE : givenType,
    tags: normaliseList((tags ?? []) as string[]),
  };
  return { event, ...(moment.assumed && { assumed: moment.assumed }) };
}

const NOT_RFC_3339 = { violation: 'its time is not an RFC 3339 timestamp with a time zone' };

type Moment = { startedAt: string; assumed?: AssumedZone };

function readAt(at: unknown): Moment | Violation {
  const startedAt = typeof at === 'string' ? parseTimestamp(at) : undefined;
  return startedAt === undefined ? NOT_RFC_3339 : { startedAt };
}

/** The moment of a local time; none if it is skipped or repeated, because one of two would be a guess. */
function momentOf({ date, clock, zone }: LocalTime, workspaceZone: string): Moment | Violation {
  const name = zone?.name ?? workspaceZone;
  const [moment, other] = momentsOf(Date.parse(`${date}T00:00:00Z`) + clock, name);
  if (moment === undefined) return { violation: `its time is skipped on that day in ${name}` };
  if (other !== undefined) return { violation: `its time comes twice on that day in ${name}, and it has no offset` };
  // The years at the ends of the calendar may leave it.
  const startedAt = Number.isNaN(moment) ? undefined : parseTimestamp(new Date(moment).toISOString());
  if (startedAt === undefined) return NOT_RFC_3339;
  if (zone?.source === 'entry') return { startedAt };
  return { startedAt, assumed: { timeZone: name, source: zone === undefined ? 'workspace' : 'document' } };
}

/** Replaces the space between date and time by a T. */
const normaliseTimeSeparator = (time: string) => time.replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, '$1T');

/**
 * The time of an entry, as far as its document says it.
 * @param text the time alone, if it may be an RFC 3339 timestamp
 * @param context the date and the zone for times without them
 */
export function toParsedTime(
  text: string,
  written: WrittenTime | undefined,
  context: { date: WrittenDate | undefined; zone: Zone | undefined },
): ParsedTime {
  const at = normaliseTimeSeparator(text);
  if (parseTimestamp(at) !== undefined) return { at };
  if (written === undefined) return { violation: 'its time cannot be read' };
  const { clock, date = context.date } = written;
  if (clock === undefined) return { violation: 'it has a date and no time' };
  if (typeof clock === 'object') return clock;
  if (date === undefined) return { violation: 'it has a time and no date' };
  if (typeof date === 'object') return date;
  const zone = written.zone ?? context.zone;
  if (typeof zone === 'object') return zone;
  const source = written.zone === undefined ? 'document' : 'entry';
  return { time: { date, clock, zone: zone === undefined ? undefined : { name: zone, source } } };
}

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
