import { createStore } from './store.ts';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const precise = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' });
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });

export const formatTime = (time: string): string => exact.format(new Date(time));
/** With seconds and the zone. */
export const formatExact = (time: string): string => precise.format(new Date(time));
export const formatClock = (time: string): string => clock.format(new Date(time));
export const formatDay = (time: string): string => day.format(new Date(time));

const shortDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
/** Such as `3 Nov, 14:05`, with the year instead of the time if it is another one. */
export function formatMoment(time: string): string {
  const date = new Date(time);
  if (date.getFullYear() !== new Date().getFullYear()) return day.format(date);
  return `${shortDay.format(date)}, ${clock.format(date)}`;
}
/** From one moment to another; a day is not repeated. */
export const formatSpan = (from: string, to: string): string =>
  `${formatMoment(from)} – ${formatDay(from) === formatDay(to) ? formatClock(to) : formatMoment(to)}`;

/** Formats the starts of buckets: midnights of a time zone, or UTC if the browser is older than the zone. */
export function bucketFormat(bucket: string, timeZone: string): (start: string) => string {
  const date = { month: 'short', [bucket === 'month' ? 'year' : 'day']: 'numeric' } as const;
  const format = (zone: string) => new Intl.DateTimeFormat('en', { ...date, timeZone: zone });
  let dateFormat: Intl.DateTimeFormat;
  try {
    dateFormat = format(timeZone);
  } catch {
    dateFormat = format('UTC');
  }
  return (start) => dateFormat.format(new Date(start));
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export function formatAgo(time: string, now: number): string {
  const seconds = (Date.parse(time) - now) / 1_000;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return unit === 'second' ? 'now' : relative.format(Math.trunc(seconds / size), unit);
}

/** Such as `2 h 5 min`; at most two units. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The name of a property for people: `first_reported_at` is `First reported at`. */
export const formatName = (name: string): string => {
  const words = name.replaceAll('_', ' ').replaceAll('.', ', ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

export const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A value of the API for people. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(formatValue).join(', ');
  if (typeof value === 'object') {
    if ('amount' in value && 'currency' in value) return `${String(value.amount)} ${String(value.currency)}`;
    if ('digest' in value) return 'a long value';
    return JSON.stringify(value);
  }
  const text = toText(value);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? formatTime(text) : text;
}

export const splitTexts = (text: string, separator: string): string[] =>
  text
    .split(separator)
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** The value of a field of date and time, in the time zone of the browser. */
export const toLocalInput = (time: string | null): string => {
  if (time === null || time === '') return '';
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
export const fromLocalInput = (text: string): string | null => (text === '' ? null : new Date(text).toISOString());

/** The time, twice a minute. */
const now = createStore(Date.now());
setInterval(() => now.set(Date.now()), 30_000);
export const useNow = now.useValue;
