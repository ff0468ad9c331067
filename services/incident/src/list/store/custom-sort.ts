import { type CustomFieldDefinition, type FieldType, optionValues, fold } from '@tocsin/schemas';
import { byCodePoints } from '../../shared/domain/compare-text.ts';
import type { Direction } from '../domain/list-sort.ts';
import { beginning } from '../../values/store/value-row.ts';
import { INDEXED_TEXT, valueOf } from './custom-filters.ts';
import type { IncidentQuery } from './query.ts';
import {
  incidentOf,
  isAfter,
  isOneOf,
  keyLookupSegment,
  keysetSegment,
  manyKeysSegment,
  numberSegment,
  orderBy,
  type RowSource,
  type SortKey,
  type SortSegment,
} from './segments.ts';
import { all, type Sql, sql } from '../../shared/store/sql.ts';

const TEXT: SortKey = { type: 'text', value: INDEXED_TEXT };
const AMOUNT: SortKey = { type: 'decimal', value: sql`v.number_value` };

/** For each type, what its values are sorted by, and whether there is such a value. An empty text counts as none. */
const ORDERS: Partial<Record<FieldType, { sortKeys: readonly SortKey[]; present: Sql }>> = {
  string: { sortKeys: [TEXT], present: sql`v.text_folded <> ''` },
  select: { sortKeys: [TEXT], present: sql`v.text_folded <> ''` },
  multi_select: { sortKeys: [TEXT], present: sql`v.text_folded <> ''` },
  number: { sortKeys: [AMOUNT], present: sql`v.number_value is not null` },
  monetary: { sortKeys: [{ type: 'text', value: sql`v.currency` }, AMOUNT], present: sql`v.currency is not null` },
  boolean: { sortKeys: [{ type: 'boolean', value: sql`v.boolean_value` }], present: sql`v.boolean_value is not null` },
  date: { sortKeys: [{ type: 'date', value: sql`v.date_value` }], present: sql`v.date_value is not null` },
  time: { sortKeys: [{ type: 'time', value: sql`v.time_value` }], present: sql`v.time_value is not null` },
  datetime: { sortKeys: [{ type: 'timestamp', value: sql`v.moment_value` }], present: sql`v.moment_value is not null` },
};

/** Whether lists can be sorted by fields of a type. */
export const isSortable = (type: FieldType) => ORDERS[type] !== undefined;

/** Sorts by the values of a custom field. Incidents without a value come last. */
export function customFieldSegments(
  { workspaceId, sort: { direction } }: IncidentQuery,
  field: CustomFieldDefinition,
): SortSegment[] {
  const order = ORDERS[field.field_type];
  if (order === undefined) throw new Error(`values of type ${field.field_type} have no order`);
  const { sortKeys, present } = order;
  const ofField = sql`v.workspace_id = ${workspaceId} and v.field_id = ${field.id}`;
  const source = {
    from: sql`incident_values as v cross join ${incidentOf(workspaceId, sql`v.incident_id`)}`,
    id: sql`v.incident_id`,
    where: [ofField, present],
    tie: sql`v.incident_id`,
  };
  const segments =
    field.field_type === 'select' || field.field_type === 'multi_select'
      ? optionSegments(field, direction, source)
      : [keysetSegment({ name: `custom:${field.field_type}`, direction, sortKeys, ...source })];
  const missing = sql`coalesce((select false from ${valueOf(workspaceId, field.id)} where ${present}), true)`;
  return [...segments, numberSegment({ name: 'custom:none', direction, where: [missing] })];
}

/** Ascending: first the options in the order of the field's definition, then all other texts in the order of texts. */
function optionSegments(
  { config = {} }: CustomFieldDefinition,
  direction: Direction,
  source: Required<RowSource>,
): SortSegment[] {
  const options = [...new Set(optionValues(config).map((option) => beginning(fold(option))))].filter(
    (option) => option !== '',
  );
  const keys = direction === 'asc' ? options : options.toReversed();
  const segments = [
    manyKeysSegment({
      keys,
      lookUp: (some) =>
        keyLookupSegment({
          name: 'custom:options',
          direction,
          keys: some,
          lookups: [
            {
              ...source,
              type: 'text',
              values: some.map((key) => ({ key, value: key })),
              match: sql`${INDEXED_TEXT} = probe.value`,
            },
          ],
        }),
      // An option that has been removed since is no key: repeating incidents is better than skipping some.
      indexFrom: (key) => Math.max(0, keys.indexOf(key)),
    }),
    textRangeSegment({
      name: 'custom:others',
      excluded: options.toSorted(byCodePoints),
      direction,
      source,
    }),
  ];
  return direction === 'asc' ? segments : segments.toReversed();
}

interface TextRangeOptions {
  name: string;
  /** The texts that are not in the segment, in ascending order. */
  excluded: readonly string[];
  direction: Direction;
  source: Required<RowSource>;
}

/** Comes after every indexed text. */
const AFTER_ALL_TEXTS = '\u{10FFFF}'.repeat(129);

/**
 * Sorts by text, without the excluded texts. Reads the ranges of the index between them: nearly all values may be
 * excluded ones, and a condition would read and reject those.
 */
function textRangeSegment({ name, excluded, direction, source }: TextRangeOptions): SortSegment {
  const { from, id, where, tie } = source;
  const order = orderBy([sql`key_0`, sql`tie`], direction);
  return {
    name,
    keys: ['text'],
    order,
    statement: ({ conditions, ids, after, limit }) => sql`
      select hit.id, hit.tie, hit.key_0
      from unnest(${['', ...excluded]}::text[], ${[...excluded, AFTER_ALL_TEXTS]}::text[]) as gap(low, high)
      cross join lateral (
        select i.id, ${tie} as tie, ${INDEXED_TEXT} as key_0
        from ${from}
        where ${all([
          ...conditions,
          ...isOneOf(id, ids),
          ...where,
          sql`${INDEXED_TEXT} > gap.low and ${INDEXED_TEXT} < gap.high`,
          ...(after === undefined ? [] : [isAfter(after, [INDEXED_TEXT, tie], direction)]),
        ])}
        order by ${orderBy([INDEXED_TEXT, tie], direction)}
        limit ${limit}) as hit
      order by ${order}
      limit ${limit}`,
    keysOf: (columns) => columns,
  };
}
