import type { Instant } from '@tocsin/runtime';

/** The length of a text with milliseconds, which most have. */
const WITH_MILLISECONDS = '2026-11-20 09:30:00.500+00'.length;

/** Converts Postgres's text of a `timestamptz` in a UTC session (`2026-11-20 09:30:00.5+00`). */
export function instantFromPostgres(text: string): Instant {
  if (text.length === WITH_MILLISECONDS && text[19] === '.') return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`;
  const fraction = text[19] === '.' ? text.slice(20, -3).padEnd(3, '0').slice(0, 3) : '000';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}
