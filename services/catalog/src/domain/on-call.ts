import { fold } from '@tocsin/schemas';
import { addMilliseconds, type Instant } from '@tocsin/runtime';

export const ON_CALL_KINDS = ['icalendar', 'pagerduty'] as const;
export type OnCallKind = (typeof ON_CALL_KINDS)[number];

/** Why a source could not be read; `key`: no configured key opens its address. */
export const ON_CALL_FAILURES = [
  ...(['address', 'connection', 'content', 'key', 'status', 'timeout', 'tls', 'too_complex', 'too_large'] as const),
] as const;

export interface OnCallFailure {
  reason: (typeof ON_CALL_FAILURES)[number];
  /** The HTTP status, if there was one. */
  status: number | null;
}

/** What is sealed of a source. */
export interface OnCallAddress {
  url: string;
  /** Empty: none. */
  credential: string;
}

/** Where it stands who is on call for a team (contract: Catalog, On call). */
export interface OnCallSource {
  kind: OnCallKind;
  /** Scheme and host: all of the URL that is ever shown. */
  origin: string;
  scheduleId: string | null;
}

/** Somebody who is on call for a time, as the source says it. */
export interface Shift {
  /** Of the person, or a text in which it stands. */
  name: string;
  /** Of the person, the most certain first. */
  emails: readonly string[];
  from: Instant;
  until: Instant;
}

/** What came of a look at a source. */
export type ReadShifts = { kind: 'read'; shifts: Shift[] } | ({ kind: 'failure' } & OnCallFailure);

/** What is known of who is on call. */
export interface KnownShifts {
  shifts: readonly Shift[];
  /** When they were read; null: never. */
  fetchedAt: Instant | null;
  failure: (OnCallFailure & { since: Instant }) | null;
}

/** Milliseconds of shifts that are kept: if a source fails for long, it is still known who is on call. */
export const AHEAD = 56 * 86_400_000;
const MAX_SHIFTS = 1_000;
/** Characters of a name. */
const MAX_NAME = 128;
const MAX_EMAILS = 3;
const MAX_EMAIL = 254;
/** People that are named at a time. */
const MAX_PEOPLE = 20;

const EMAIL = /[^\s<>()[\],;:"'|\\]{1,64}@[a-z0-9.-]{1,188}\.[a-z]{2,63}/gi;

/** The email addresses in a text. */
export const emailsIn = (text: string): string[] => text.match(EMAIL) ?? [];

/** The shifts that are kept of those that were read: what has not ended, the nearest first, adjacent ones of a person as one. */
export function keptShifts(read: Iterable<Shift>, now: Instant): Shift[] {
  const end = addMilliseconds(now, AHEAD);
  const latest = new Map<string, Shift>();
  const kept: Shift[] = [];
  const sorted = [...read]
    .filter(({ from, until }) => from < until && until > now && from < end)
    .sort((one, other) => compare(one.from, other.from) || compare(one.name, other.name));
  for (const shift of sorted) {
    const name = shorten(shift.name.replaceAll(/\s+/g, ' ').trim());
    const emails = [...new Set(shift.emails.filter((email) => email.length <= MAX_EMAIL))].slice(0, MAX_EMAILS);
    const until = shift.until < end ? shift.until : end;
    const key = JSON.stringify([name, emails]);
    const before = latest.get(key);
    if (before !== undefined && shift.from <= before.until) {
      if (until > before.until) before.until = until;
    } else {
      if (kept.length === MAX_SHIFTS) break;
      const added = { name, emails, from: shift.from, until };
      latest.set(key, added);
      kept.push(added);
    }
  }
  return kept;
}

/** Who is on call now, and who begins next: several, if shifts overlap or begin at once. */
export function nowAndNext(shifts: readonly Shift[], now: Instant): { now: Shift[]; next: Shift[] } {
  const future = shifts.filter(({ from }) => from > now);
  return {
    now: shifts.filter(({ from, until }) => from <= now && until > now).slice(0, MAX_PEOPLE),
    next: future.filter(({ from }) => from === future[0]?.from).slice(0, MAX_PEOPLE),
  };
}

/** An active user, who may be on call. */
export interface Candidate {
  id: number;
  name: string;
  email: string;
}

/**
 * The user of a shift: the one with the first of its email addresses that a user has; else the only one whose name stands
 * in its text, in whole words and in no longer name of another; undefined: nobody, or it is not certain who.
 */
export function userOf({ name, emails }: Shift, candidates: readonly Candidate[]): Candidate | undefined {
  for (const email of emails.map(fold)) {
    const user = candidates.find((candidate) => fold(candidate.email) === email);
    if (user !== undefined) return user;
  }
  const text = wordsOf(name);
  const named = candidates
    .map((user) => ({ user, words: wordsOf(user.name) }))
    .filter(({ words }) => words.trim() !== '' && text.includes(words));
  const longest = named.filter(
    ({ words }) => !named.some((other) => other.words.length > words.length && other.words.includes(words)),
  );
  return longest.length === 1 ? longest[0]?.user : undefined;
}

/** The folded words of a text between spaces. */
const wordsOf = (text: string): string =>
  ` ${fold(text)
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean)
    .join(' ')} `;

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const shorten = (text: string): string => [...text].slice(0, MAX_NAME).join('');
