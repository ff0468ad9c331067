import { isTimeZone, knownTimeZone, ownProperty, startOfDay } from '@tocsin/runtime';
import ical, { type Attendee, type EventInstance, type VEvent } from 'node-ical';
import { AHEAD, emailsIn, keptShifts, type Shift } from './on-call.ts';

const DAY = 86_400_000;
/** Characters of a description in which email addresses are looked for. */
const MAX_DESCRIPTION = 2_000;

/** A calendar as it was received, at a moment in milliseconds. */
export interface ReceivedCalendar {
  text: string;
  now: number;
}

/**
 * Reads who is on call from an iCalendar document (RFC 5545): each event is a shift of its attendees or, without one, of
 * whom its summary names. Times without a zone are in the calendar's (`X-WR-TIMEZONE`), or UTC; days are from midnight
 * to midnight there. Call it in a thread: a repetition may be without a bound.
 * @returns undefined if it is no calendar
 */
export function readCalendar({ text, now }: ReceivedCalendar): Shift[] | undefined {
  if (!/^\uFEFF?\s*BEGIN:VCALENDAR/i.test(text)) return undefined;
  const zone = knownTimeZone(/^X-WR-TIMEZONE[^:\r\n]*:([^\r\n]*)/im.exec(text)?.[1]?.trim() ?? '');
  const calendar = ical.sync.parseICS(withZone(text, zone));
  // Days are compared with those of this machine's zone.
  const range = { from: new Date(now - DAY), to: new Date(now + AHEAD + DAY), expandOngoing: true };
  const shifts = Object.values(calendar)
    .filter((component): component is VEvent => component?.type === 'VEVENT')
    .flatMap((event) => ical.expandRecurringEvent(event, range))
    .flatMap((instance) => shiftsOf(instance, zone));
  return keptShifts(shifts, new Date(now).toISOString());
}

/** Names the zone of times that have none. In a calendar that defines one zone, they are in that. */
function withZone(text: string, zone: string): string {
  if (/^BEGIN:VTIMEZONE/im.test(text)) return withReadZones(text);
  const floating = /^(DTSTART|DTEND|RECURRENCE-ID|EXDATE)(?:;VALUE=DATE-TIME)?:(\d{8}T\d{6}(?:,\d{8}T\d{6})*)\r?$/gim;
  return text.replaceAll(floating, `$1;TZID=${zone}:$2`);
}

/** With this name, the parser reads how a zone is defined; otherwise its name alone counts. */
const CUSTOM_ZONE = 'Customized Time Zone';

function withReadZones(text: string): string {
  const defined = new Set([...text.matchAll(/^TZID:([^\r\n]+)/gim)].map(([, name = '']) => name));
  const custom = (name: string) => (defined.has(name) && !isTimeZone(name) ? `${CUSTOM_ZONE} ${name}` : name);
  return text
    .replaceAll(/^TZID:([^\r\n]+)/gim, (_, name: string) => `TZID:${custom(name)}`)
    .replaceAll(/;TZID="?([^":;\r\n]+)"?(?=[:;])/gi, (_, name: string) => `;TZID=${custom(name)}`);
}

function shiftsOf({ start, end, isFullDay, summary, event }: EventInstance, zone: string): Shift[] {
  if (event.status === 'CANCELLED') return [];
  const momentOf = (date: Date) =>
    isFullDay ? startOfDay(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()), zone) : date.getTime();
  const [from, until] = [momentOf(start), momentOf(end)];
  // Of a date that does not exist.
  if (!Number.isFinite(from) || !Number.isFinite(until)) return [];
  const times = { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
  const name = textOf(summary);
  const attendees = [event.attendee ?? []].flat().flatMap((attendee) => personOf(attendee, name));
  if (attendees.length > 0) return attendees.map((person) => ({ ...person, ...times }));
  return [
    { name, emails: [...emailsIn(name), ...emailsIn(textOf(event.description).slice(0, MAX_DESCRIPTION))], ...times },
  ];
}

/** Rooms and who has declined are not on call. */
function personOf(attendee: Attendee, summary: string): Pick<Shift, 'name' | 'emails'>[] {
  const parameters: Readonly<Record<string, unknown>> = typeof attendee === 'string' ? {} : { ...attendee.params };
  const parameter = (name: string) => textOf(ownProperty(parameters, name)).replaceAll('"', '');
  if (['ROOM', 'RESOURCE'].includes(parameter('CUTYPE')) || parameter('PARTSTAT') === 'DECLINED') return [];
  return [{ name: parameter('CN') || summary, emails: emailsIn(textOf(attendee).replace(/^mailto:/i, '')) }];
}

/** A property is a text, or a text with parameters; of a repeated one, the first counts. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return textOf(value[0]);
  return typeof value === 'object' && value !== null && 'val' in value ? textOf(value.val) : '';
}
