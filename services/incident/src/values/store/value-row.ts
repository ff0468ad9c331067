import { type CustomFieldDefinition, type FieldType, parseTimestamp, fold } from '@tocsin/contracts';
import type { Instant } from '@tocsin/runtime';
import type { FieldValue } from '../domain/values.ts';
import { manyGrams, textGrams } from './text-grams.ts';

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
const MAX_GRAMS = 16_384;

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
  if (total <= MAX_GRAMS) return;
  const countOf = ({ text_grams: grams = [] }: ValueRecord) => grams.length;
  for (const record of records.toSorted((a, b) => countOf(b) - countOf(a))) {
    if (total <= MAX_GRAMS || countOf(record) <= 1) return;
    total -= countOf(record) - 1;
    record.text_grams = [manyGrams(record.field_id)];
  }
}

function typedColumns({ id, field_type }: CustomFieldDefinition, value: unknown): TypedColumns {
  switch (field_type) {
    case 'string': {
      const text = textColumns(value as string);
      return { ...text, text_grams: textGrams(id, text.text_folded) };
    }
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
        option_keys: options.map((option) => optionKey(id, option)),
      };
    }
    case 'json':
      return {};
  }
}

const textColumns = (text: string) => ({ text_value: text, text_folded: fold(text) });

/** The part of a text that is indexed: index entries have a maximum size. */
export const beginning = (text: string) => [...text].slice(0, 128).join('');

/** An option as `option_keys` stores it. */
export const optionKey = (fieldId: number, option: string) => `${fieldId} ${beginning(option)}`;
