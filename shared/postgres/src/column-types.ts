import type { Instant } from '@tocsin/runtime';
import pg from 'pg';

/** The length of a text with milliseconds, which most have. */
const WITH_MILLISECONDS = '2026-11-20 09:30:00.500+00'.length;

/** Converts Postgres's text of a `timestamptz` in a UTC session (`2026-11-20 09:30:00.5+00`). */
export function instantFromPostgres(text: string): Instant {
  if (text.length === WITH_MILLISECONDS && text[19] === '.') return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`;
  const fraction = text[19] === '.' ? text.slice(20, -3).padEnd(3, '0').slice(0, 3) : '000';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}

/** The type `text[]`, which the driver does not name. */
const TEXT_ARRAY = 1009 as unknown as typeof pg.types.builtins.TEXT;

const readAnyArray = pg.types.getTypeParser(TEXT_ARRAY) as (text: string) => string[];

/** Most arrays are empty or have elements without quotation marks, which need no parser. */
function textsFromPostgres(text: string): string[] {
  if (text === '{}') return [];
  return /["\\]|NULL/i.test(text) ? readAnyArray(text) : text.slice(1, -1).split(',');
}

/** How values are read: `bigint` as a number, `timestamptz` as an `Instant`, `date` as text. */
export const columnTypes = new pg.TypeOverrides();
// All IDs and counts are below 2^53.
columnTypes.setTypeParser(pg.types.builtins.INT8, Number);
columnTypes.setTypeParser(pg.types.builtins.TIMESTAMPTZ, instantFromPostgres);
columnTypes.setTypeParser(pg.types.builtins.DATE, (text: string) => text);
columnTypes.setTypeParser(TEXT_ARRAY, textsFromPostgres);
