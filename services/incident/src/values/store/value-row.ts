import { createHash } from 'node:crypto';
import { type CustomFieldDefinition, type FieldType, parseTimestamp, fold } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import type { FieldValue } from '../domain/values.ts';

/** The columns that lists filter and sort by; a row fills those of its field's type. */
interface TypedColumns {
  text_value?: string;
  text_folded?: string;
  text_grams?: number[];
  number_value?: number;
  currency?: string;
  boolean_value?: boolean;
  date_value?: string;
  time_value?: string;
  moment_value?: Instant | undefined;
  options?: string[];
  option_keys?: string[];
}

/** A row of `incident_values` without the incident's ID. */
export interface ValueRecord extends TypedColumns {
  field_id: number;
  slug: string;
  field_type: FieldType;
  value: unknown;
  updated_at: Instant;
  updated_by: string;
}

const TYPE_OF = {
  field_id: 'bigint',
  slug: 'text',
  field_type: 'text',
  value: 'jsonb',
  text_value: 'text',
  text_folded: 'text',
  text_grams: 'bigint[]',
  number_value: 'numeric',
  currency: 'text',
  boolean_value: 'boolean',
  date_value: 'date',
  time_value: 'time',
  moment_value: 'timestamptz',
  options: 'text[]',
  option_keys: 'text[]',
  updated_at: 'timestamptz',
  updated_by: 'text',
} as const satisfies Record<keyof ValueRecord, string>;

export const VALUE_COLUMNS = Object.keys(TYPE_OF);

/** Returns SQL that reads records from one JSON parameter as rows named `value`. */
export const valueRows = (parameter: string) =>
  `jsonb_to_recordset(${parameter}::jsonb) as value (${Object.entries(TYPE_OF)
    .map(([column, type]) => `${column} ${type}`)
    .join(', ')})`;

/** The most grams that one statement stores, because each is an entry of the index. */
const MAX_STATEMENT_GRAMS = 16_384;

/** Returns the rows of validated values. */
export function toRecords(values: readonly FieldValue[], set: { at: Instant; by: string }): ValueRecord[] {
  const records = values.map(({ field, value }) => ({
    field_id: field.id,
    slug: field.slug,
    field_type: field.field_type,
    value,
    ...typedColumns(field, value),
    updated_at: set.at,
    updated_by: set.by,
  }));
  limitGrams(records);
  return records;
}

/** Replaces the grams of the texts with the most of them until the rest is within the limit of one statement. */
export function limitGrams(records: readonly ValueRecord[]): void {
  let total = records.reduce((sum, { text_grams: grams = [] }) => sum + grams.length, 0);
  if (total <= MAX_STATEMENT_GRAMS) return;
  const countOf = ({ text_grams: grams = [] }: ValueRecord) => grams.length;
  for (const record of records.toSorted((a, b) => countOf(b) - countOf(a))) {
    if (total <= MAX_STATEMENT_GRAMS || countOf(record) <= 1) return;
    total -= countOf(record) - 1;
    record.text_grams = [manyGrams(record.field_id)];
  }
}

function typedColumns({ id, field_type }: CustomFieldDefinition, value: unknown): TypedColumns {
  switch (field_type) {
    case 'string':
      return textColumns(value as string, { searchedIn: id });
    case 'select':
      return textColumns(value as string);
    case 'number':
      return { number_value: value as number };
    case 'monetary': {
      const { amount, currency } = value as { amount: number; currency: string };
      return { number_value: amount, currency };
    }
    case 'boolean':
      return { boolean_value: value as boolean };
    case 'date':
      return { date_value: value as string };
    case 'time':
      return { time_value: value as string };
    case 'datetime':
      return { moment_value: parseTimestamp(value as string) };
    case 'multi_select': {
      const options = value as string[];
      return {
        ...(options[0] !== undefined && textColumns(options[0])),
        options,
        option_keys: options.map((option) => optionKey(id, fold(option))),
      };
    }
    case 'json':
      return {};
  }
}

/** The field in which custom filters search for parts of the text. */
type Searched = { searchedIn?: number | undefined };

function textColumns(text: string, { searchedIn }: Searched = {}) {
  const folded = fold(text);
  const grams = searchedIn === undefined ? {} : { text_grams: textGrams(searchedIn, folded) };
  return { text_value: text, text_folded: folded, ...grams };
}

/** The part of a text that is indexed: index entries have a maximum size. */
export const beginning = (text: string) => [...text].slice(0, 128).join('');

/** A folded option as `option_keys` stores it: equal for equal options, however long they are. */
export function optionKey(fieldId: number, folded: string): string {
  const start = beginning(folded);
  return `${fieldId} ${start === folded ? folded : `${start} ${createHash('sha256').update(folded).digest('base64url')}`}`;
}

/** How many different grams a field has. Grams share numbers by hashing. A power of two: see `gramAt`. */
const BUCKETS = 65_536;

/** The number of characters in the longest grams. */
const MAX_LENGTH = 3;

/** How many characters of a searched text are turned into grams. The search compares the whole text afterwards. */
const MAX_SEARCHED = 64;

/**
 * The most grams that are stored with a text, because each is an entry of the index. English has so many in some 5,000
 * characters. A text with more of them has one number instead that every search finds.
 */
const MAX_TEXT_GRAMS = 2_048;

/** Longer texts, which no value has any more, are not turned into grams, because that takes time. */
const MAX_TEXT = 65_536;

/**
 * The grams of a folded text: its runs of one, two and three characters, each as a number that includes the field's ID, so
 * that a search finds texts of this field only. For a text with too many, only the number of `manyGrams`.
 */
export function textGrams(fieldId: number, folded: string): number[] {
  if (folded.length > MAX_TEXT) return [manyGrams(fieldId)];
  const points = codePoints(folded);
  const lengths = Array.from({ length: MAX_LENGTH }, (_, index) => index + 1);
  const grams = distinctGrams(points, lengths);
  return grams.length > MAX_TEXT_GRAMS ? [manyGrams(fieldId)] : inField(fieldId, grams);
}

/** The grams that a text must have to contain the searched text: those of one length. None for an empty text. */
export function searchedGrams(fieldId: number, folded: string): number[] {
  const points = codePoints(folded.slice(0, 2 * MAX_SEARCHED)).subarray(0, MAX_SEARCHED);
  return points.length === 0 ? [] : inField(fieldId, distinctGrams(points, [Math.min(points.length, MAX_LENGTH)]));
}

/** What the texts of a field have instead of too many grams. No gram is negative. */
export const manyGrams = (fieldId: number) => -fieldId;

/** Postgres compares texts by code points, too. */
function codePoints(text: string): Uint32Array {
  const points = new Uint32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const point = text.codePointAt(index) ?? 0;
    if (point > 0xffff) index += 1;
    points[length] = point;
    length += 1;
  }
  return points.subarray(0, length);
}

/** The distinct grams of these lengths; of more than `MAX_TEXT_GRAMS`, one more than that. */
function distinctGrams(points: Uint32Array, lengths: readonly number[]): number[] {
  const isKnown = new Uint8Array(BUCKETS);
  const grams: number[] = [];
  for (const length of lengths) {
    for (let start = 0; start + length <= points.length && grams.length <= MAX_TEXT_GRAMS; start += 1) {
      const gram = gramAt(points, start, length);
      if (isKnown[gram] === 1) continue;
      isKnown[gram] = 1;
      grams.push(gram);
    }
  }
  return grams;
}

/** Computes modulo 2^32, which has the same remainder by `BUCKETS` and is faster than exact numbers. */
function gramAt(points: Uint32Array, start: number, length: number): number {
  let gram = length;
  for (let index = start; index < start + length; index += 1) gram = Math.imul(gram, 1_021) + (points[index] ?? 0);
  return (gram >>> 0) % BUCKETS;
}

const inField = (fieldId: number, grams: readonly number[]) => grams.map((gram) => fieldId * BUCKETS + gram);
