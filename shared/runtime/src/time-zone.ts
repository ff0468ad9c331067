/** The time zone of a workspace that has configured none. */
export const UTC = 'UTC';

const DAY = 86_400_000;

/** ICU also knows abbreviations, some of them for another zone than people mean: `BST` is Asia/Dhaka. */
export const TIME_ZONE_NAME = /^(?:UTC|[A-Z]\w*(?:\/[A-Za-z][\w+-]*){1,2})$/;

/** Whether a text names a zone of the IANA time zone database, in its letter case, or is UTC. */
export function isTimeZone(name: string): boolean {
  const isName = TIME_ZONE_NAME.test(name) && !name.startsWith('SystemV/');
  const canonical = isName ? formatOf(name)?.resolvedOptions().timeZone : undefined;
  return canonical !== undefined && (canonical === name || canonical.toLowerCase() !== name.toLowerCase());
}

/** A stored zone, or UTC if this process does not know it: another version of Node may know others. */
export const knownTimeZone = (name: string): string => (isTimeZone(name) ? name : UTC);

/** What the clocks of a zone show at a moment, as a date whose UTC fields are the local ones. */
export const localTime = (moment: number, zone: string): Date => new Date(moment + offsetAt(moment, zone));

/**
 * The moments, in milliseconds, at which the clocks of a zone show a local time, the earliest first: one, but none for a
 * time that is skipped when summer time begins, and two for one that is repeated when it ends.
 * @param local as of `localTime`
 * @param zone a time zone, or an offset like `+02:00`
 */
export function momentsOf(local: number, zone: string): number[] {
  const offsets = new Set([offsetAt(local - DAY, zone), offsetAt(local + DAY, zone)]);
  return [...offsets]
    .map((offset) => local - offset)
    .filter((moment) => offsetAt(moment, zone) === local - moment)
    .sort((a, b) => a - b);
}

/** The first moment of a local day; the end of the skipped time if its midnight is skipped. */
export const startOfDay = (midnight: number, zone: string): number =>
  momentsOf(midnight, zone)[0] ?? midnight - offsetAt(midnight - DAY, zone);

/** The milliseconds by which local time is ahead of UTC. */
function offsetAt(moment: number, zone: string): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(formatOf(zone)?.format(moment) ?? '') ?? [];
  return (sign === '-' ? -1_000 : 1_000) * (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds));
}

/** To make one takes 40 times as long as to use it. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 100;

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const cachedFormat = formats.get(zone);
  if (cachedFormat !== undefined) return cachedFormat;
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    if (formats.size === MAX_FORMATS) formats.clear();
    formats.set(zone, format);
    return format;
  } catch {
    return undefined;
  }
}
