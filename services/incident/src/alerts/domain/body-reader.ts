import { isLongerThan, parseTimestamp } from '@tocsin/schemas';
import { invalidRequest } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { EvidenceLink } from '../../timeline/domain/timeline-event.ts';
import { isWebAddress } from '../../incidents/domain/property-kinds.ts';
import { KEPT, type LeftOut, MAX_LEFT_OUT } from './alert.ts';

/** A time of a monitor whose clock is further ahead is not believed. Milliseconds. */
const LATEST = 86_400_000;
/** Monitors write a time that they do not know as the first one. */
const UNKNOWN_BEFORE = '0002-01-01T00:00:00.000Z';

export type Body = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first characters of a text, whole ones. */
export const shorten = (text: string, max: number): string =>
  isLongerThan(text, max) ? `${[...text.slice(0, 2 * max)].slice(0, max - 1).join('')}…` : text;

/** The first characters of a body, without tokens, as a text that can be stored. */
export const beginningOf = (bytes: Buffer): string =>
  bytes
    // More than is shown: a token must be whole to be recognised.
    .toString('utf8', 0, 8 * KEPT.bodyStart)
    .replaceAll(/tc[a-z]_\w+/g, 'tcs_…')
    .replaceAll('\0', '\uFFFD')
    .replace(new RegExp(`^([^]{${KEPT.bodyStart}})[^]+`, 'u'), '$1…');

/** Reads bodies that other systems have made: what cannot be kept is left out, and named. */
export function bodyReader(now: Instant) {
  const leftOut: LeftOut[] = [];
  const leaveOut = (field: string, reason: string): void => {
    if (leftOut.length < MAX_LEFT_OUT) leftOut.push({ field, reason });
  };
  // Alerts of a group have the same times.
  const times = new Map<string, string | undefined>();
  const timeOf = (text: string) => {
    // PagerDuty writes offsets without a colon.
    if (!times.has(text)) times.set(text, parseTimestamp(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')));
    return times.get(text);
  };
  const latest = new Date(Date.parse(now) + LATEST).toISOString();
  return {
    leftOut,

    /** @throws DomainError `invalid_request` for anything but a text that shows something */
    required(value: unknown, field: string): string {
      if (typeof value !== 'string' || value.trim() === '')
        throw invalidRequest(field, 'Must be a text that is not blank');
      return value;
    },

    /** Numbers and the like become texts, too; an absent value is an empty one. */
    text(value: unknown, field: string, max: number = KEPT.text): string {
      if (value === undefined || value === null) return '';
      const text = (typeof value === 'string' ? value : JSON.stringify(value)).trim();
      const shortened = shorten(text, max);
      if (shortened !== text) leaveOut(field, `Is longer than ${max} characters`);
      return shortened;
    },

    time(value: unknown, field: string): Instant | null {
      if (value === undefined || value === null || value === '') return null;
      const time = typeof value === 'string' ? timeOf(value) : undefined;
      if (time !== undefined && time < UNKNOWN_BEFORE) return null;
      if (time !== undefined && time <= latest) return time;
      leaveOut(field, time === undefined ? 'Is not an RFC 3339 timestamp' : 'Is more than a day in the future');
      return null;
    },

    object(value: unknown, field: string): Body {
      if (isObject(value)) return value;
      if (value !== undefined && value !== null) leaveOut(field, 'Is not an object');
      return {};
    },

    labels(labels: Body, field: string): [string, string][] {
      const all = Object.entries(labels);
      if (all.length > KEPT.labels) leaveOut(field, `Has more than ${KEPT.labels} names`);
      return all
        .slice(0, KEPT.labels)
        .map(([name, value]) => [shorten(name, KEPT.label), this.text(value, `${field}.${name}`, KEPT.label)]);
    },

    /** The links that are web addresses. */
    links(candidates: readonly { label: string; url: unknown; field: string; source: string }[]): EvidenceLink[] {
      const links: EvidenceLink[] = [];
      for (const { label, url, field, source } of candidates) {
        if (url === undefined || url === null || url === '') continue;
        if (typeof url !== 'string' || !isWebAddress(url)) leaveOut(field, 'Is not an absolute http or https URL');
        else if (url.length > KEPT.url) leaveOut(field, `Is longer than ${KEPT.url} characters`);
        else if (links.length === KEPT.links) leaveOut(field, `Is more than ${KEPT.links} links`);
        else if (!links.some((link) => link.url === url)) links.push({ source, url, label: shorten(label, KEPT.name) });
      }
      return links;
    },
  };
}

export type BodyReader = ReturnType<typeof bodyReader>;
